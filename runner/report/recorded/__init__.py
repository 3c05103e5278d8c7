"""Tables that are kept in git: written with the values of their seeds, and rendered anew from them."""
