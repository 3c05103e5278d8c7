"""Peak memory of the experiments, at the size of the papers and a few steps."""
