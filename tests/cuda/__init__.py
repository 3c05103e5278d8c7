"""What needs a CUDA device; skipped where there is none. ``pytest tests/cuda`` on a machine that has one."""
