"""What a table says about its numbers: who is best, what differs, what lies at the floor, how a cost grows.

Imports the table's shape and its stored results.
"""
