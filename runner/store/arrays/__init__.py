"""Arrays in the folder of a run (visits, draws, a series, kept draws), and pictures of them."""
