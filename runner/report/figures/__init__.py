"""What every panel of a figure uses: its data, the rows' styles, the tours that runs visited.

Imports the table's shape and its stored results.
"""
