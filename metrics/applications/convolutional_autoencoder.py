"""The small convolutional autoencoder that is trained on a sampler's images (EDLP, section 6.3)."""

from __future__ import annotations

from torch import Tensor, nn

CHANNELS = (16, 32)
STRIDE = 4
"""Each of the two convolutions halves a side, so the sides of an image must be multiples of 4."""


class ConvolutionalAutoencoder(nn.Module):
    """Two 3 x 3 convolutions of stride 2 with ReLU, mirrored by two transposed ones; sigmoid at the end.

    The paper says only "a simple convolutional autoencoder": layers, channels and strides are our choice. The
    code of an image of h x w pixels has 2 h w numbers, so the architecture does not force compression.
    """

    def __init__(self) -> None:
        super().__init__()
        first, second = CHANNELS
        self.encoder = nn.Sequential(
            nn.Conv2d(1, first, 3, stride=2, padding=1),
            nn.ReLU(),
            nn.Conv2d(first, second, 3, stride=2, padding=1),
            nn.ReLU(),
        )
        self.decoder = nn.Sequential(
            nn.ConvTranspose2d(second, first, 3, stride=2, padding=1, output_padding=1),
            nn.ReLU(),
            nn.ConvTranspose2d(first, 1, 3, stride=2, padding=1, output_padding=1),
        )

    def logits(self, images: Tensor) -> Tensor:
        """Logits of the reconstruction of `images` ``(n, height, width)``, of the same shape."""
        made: Tensor = self.decoder(self.encoder(images.unsqueeze(1)))
        return made.squeeze(1)

    def forward(self, images: Tensor) -> Tensor:
        """The reconstruction of `images` ``(n, height, width)``, of the same shape, from 0 to 1."""
        return self.logits(images).sigmoid()
