"""What a target does otherwise where its steps are compiled; products by oneDNN. Imports no other room."""
