"""A server on the loopback that speaks W&B's protocol as far as the real clients use it, and records it.

`server` is HTTP and its faults, `answers` the answers to GraphQL, `project` what was sent.
"""
