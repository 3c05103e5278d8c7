"""Files are damaged at random places, and the commands that read them must find it or give the same bytes."""
