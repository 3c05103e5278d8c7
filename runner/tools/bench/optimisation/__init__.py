"""Speed of problems on graphs; imported by the bench alone."""
