"""Pilots that find numbers: step sizes, ladders, the cycle of ACS. Know kernels, and no configuration."""
