"""The bench on a CUDA device: steps and rounds, what they start there, and a peer in JAX."""
