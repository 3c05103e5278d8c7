"""Draws from finitely many possibilities: levels, places, distinct places, and those of rows of a table."""
