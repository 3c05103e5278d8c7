"""The runs behind a table: each in its row and column, with what the store holds of it."""
