"""Steps recorded as a CUDA graph and replayed."""
