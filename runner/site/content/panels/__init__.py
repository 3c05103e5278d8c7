"""The panels of figures as interactive plots, one module for kinds that look alike.

`panel_chart` finds what a figure has of them; imports the charts beside this room.
"""
