"""Where a command's words go."""
