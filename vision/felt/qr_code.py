"""Reads a QR code that somebody holds before the camera."""

from typing import Final

import cv2

from vision.base.arrays import Image
from vision.felt.resample import reduce_picture

WIDTHS_PX: Final = (1280, 2560)
"""Widths to which a frame is reduced, one after the other: a code that fills the picture is found in the small one."""


def qr_text(frame: Image) -> str:
    """Return the text of a QR code in a frame, "" if there is none that can be read."""
    detector = cv2.QRCodeDetector()
    for width in (*WIDTHS_PX, frame.shape[1]):
        if width > frame.shape[1]:
            continue
        small, _ = reduce_picture(frame, width)
        try:
            text, *_ = detector.detectAndDecode(small)
        except cv2.error:  # some pictures without a code make it fail inside
            continue
        if text:
            return str(text)
    return ""
