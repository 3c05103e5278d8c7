"""What the sweep does when workers die, disks fill and locks are missing; functions that a script can call."""
