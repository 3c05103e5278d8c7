"""Images that a sampler made of a learned target, kept, and the networks that are trained on images."""
