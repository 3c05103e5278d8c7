"""Steps of a kernel traced into one graph and compiled by TorchInductor, the compiler of `torch.compile`.

Nothing but `samplers.stepper` imports from here.
"""
