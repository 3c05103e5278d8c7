"""Workers are killed, disks fill, locks are missing: what becomes of the sweep; for tests and a script."""
