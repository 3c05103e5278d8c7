"""The defects of papers and released code: each is a function that measures it, with what is known of it."""
