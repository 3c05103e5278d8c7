"""What values of a few seeds say: intervals, tests, growth of a cost. Imports no torch and no other room."""
