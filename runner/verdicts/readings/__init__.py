"""The readings of recorded tables: their texts, and the numbers that they take from records."""
