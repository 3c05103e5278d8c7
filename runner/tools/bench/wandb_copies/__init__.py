"""Cost of the copies in W&B: runs sent from the disk, and logging while a run goes on."""
