"""What a step costs otherwise than in plain seconds: compiled, and counted operation by operation."""
