"""The documentation: its code blocks run, its citations lead somewhere, its generator covers conf/."""
