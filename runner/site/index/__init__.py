"""What is known of a store, kept between reports: its runs, its plans, facts about metrics.

Imports nothing else of the site.
"""
