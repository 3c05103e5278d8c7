"""What the bench compares with: the same computations as one would write them in a script."""
