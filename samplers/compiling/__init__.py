"""Steps of a kernel traced into one graph and compiled by `torch.compile`.

Nothing but `samplers.stepper` imports from here.
"""
