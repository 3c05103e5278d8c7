"""What a step takes: on each kind of target, on a GPU, compiled, and counted operation by operation."""
