"""Compiled steps as a run has them: whether it asks for them, and its stepper."""
