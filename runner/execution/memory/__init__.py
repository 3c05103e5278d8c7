"""Memory of a process: what is kept of what was freed, and when garbage is collected."""
