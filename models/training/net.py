"""The network: a small fully convolutional net, stride 8, that finds card indices and names them.

Input: float32 (batch, 3, h, w) in 0…1, BGR, h and w multiples of 16. Output: float32 (batch, 23, h/8, w/8). Per cell:

| channels | meaning |
|---|---|
| 0 | heat: logit that an index's middle lies in this cell |
| 1–13 | rank logits in the order of `vision.reading.cards.RANKS` |
| 14–17 | suit logits in the order of `vision.reading.cards.SUITS` |
| 18, 19 | direction along the card's width as the index reads (x, y), not normalised |
| 20, 21 | the middle's offset from the cell's middle, in cells |
| 22 | log(index height in px / 32) |
"""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional

STRIDE = 8
CHANNELS = 23
HEAT, RANK, SUIT, DIRECTION, OFFSET, SIZE = 0, slice(1, 14), slice(14, 18), slice(18, 20), slice(20, 22), 22
UNIT_SIZE_PX = 32.0


def conv(inputs: int, outputs: int, kernel: int, stride: int = 1) -> nn.Sequential:
    """Return a convolution with its normalisation."""
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, bias=False),
        nn.BatchNorm2d(outputs),
        nn.ReLU(True),
    )


class Separable(nn.Module):
    """A depthwise convolution, then a pointwise one; with a shortcut where the shapes allow it."""

    def __init__(self, inputs: int, outputs: int, kernel: int = 3, stride: int = 1) -> None:
        super().__init__()
        self.depthwise = nn.Sequential(
            nn.Conv2d(inputs, inputs, kernel, stride, kernel // 2, groups=inputs, bias=False),
            nn.BatchNorm2d(inputs),
        )
        self.pointwise = conv(inputs, outputs, 1)
        self.shortcut = inputs == outputs and stride == 1

    def forward(self, x: Tensor) -> Tensor:
        """Apply the block."""
        y: Tensor = self.pointwise(self.depthwise(x))
        return x + y if self.shortcut else y


class IndexNet(nn.Module):
    """About 195,000 parameters; strides 4, 8 and 16, the coarsest fed back into stride 8."""

    def __init__(self, fine: int = 32, quarter: int = 48, eighth: int = 112, sixteenth: int = 144) -> None:
        super().__init__()
        self.stem = nn.Sequential(conv(3, 16, 3, 2), conv(16, fine, 3, 2))
        self.quarter = nn.Sequential(Separable(fine, quarter), Separable(quarter, quarter))
        self.eighth = nn.Sequential(
            Separable(quarter, eighth, 3, 2), *(Separable(eighth, eighth, 5) for _ in range(4))
        )
        self.sixteenth = nn.Sequential(
            Separable(eighth, sixteenth, 3, 2), *(Separable(sixteenth, sixteenth, 5) for _ in range(2))
        )
        self.lateral = nn.Conv2d(sixteenth, eighth, 1)
        self.fuse = nn.Sequential(Separable(eighth, eighth, 5), Separable(eighth, eighth, 3))
        self.head = nn.Conv2d(eighth, CHANNELS, 1)
        nn.init.constant_(self.head.bias[:1], -4.0)  # most cells hold no index

    def features(self, x: Tensor) -> Tensor:
        """Return what the last layer looks at: (batch, 112, h/8, w/8)."""
        fine: Tensor = self.eighth(self.quarter(self.stem(x)))
        coarse = functional.interpolate(self.lateral(self.sixteenth(fine)), scale_factor=2.0, mode="nearest")
        fused: Tensor = self.fuse(fine + coarse)
        return fused

    def forward(self, x: Tensor) -> Tensor:
        """Return the map described at the top of this module."""
        out: Tensor = self.head(self.features(x))
        return out


def parameters(net: nn.Module) -> int:
    """Count the net's parameters."""
    return sum(p.numel() for p in net.parameters())
