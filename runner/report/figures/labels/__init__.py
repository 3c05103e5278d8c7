"""Texts of figures whose size depends on the room that there is."""
