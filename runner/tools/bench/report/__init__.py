"""Time and memory of the HTML report, on a store of runs that nobody computed."""
