"""Stand-ins for file systems that refuse, have no locks, or are watched."""
