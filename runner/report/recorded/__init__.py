"""Tables that are kept in git: written with the values of their seeds, and their figures drawn anew."""
