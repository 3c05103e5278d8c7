"""The file of an experiment: what it holds, what is wrong in it, and the jobs that it plans."""
