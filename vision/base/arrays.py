"""Names for the array types that functions exchange, so that signatures show their contents."""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Image: TypeAlias = npt.NDArray[np.uint8]
"""A picture: height × width × 3 in the order blue, green, red, or height × width for one channel; 0–255."""

Points: TypeAlias = npt.NDArray[np.float64]
"""n × 2 points, x to the right and y down; in pixels (0, 0) is the middle of the first pixel."""

Matrix: TypeAlias = npt.NDArray[np.float64]
"""A 3 × 3 (homography, camera) or 2 × 3 (affine) matrix."""
