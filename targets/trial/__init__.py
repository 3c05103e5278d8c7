"""Trials of what others wrote, before chains run with it: targets, and what all trials need."""
