"""Steps of a kernel traced into one graph and compiled by TorchInductor, the compiler of `torch.compile`.

Their random numbers come from `CounterStreams`. Only `samplers.stepper` imports what is slow.
"""
