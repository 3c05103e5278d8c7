"""What a target does otherwise where its steps are compiled. Imports nothing of `targets`."""
