"""The markers that are printed on the felt."""

import cv2


def dictionary(name: str) -> cv2.aruco.Dictionary:
    """Return one of OpenCV's marker dictionaries by name; the layout has checked that it exists."""
    return cv2.aruco.getPredefinedDictionary(int(getattr(cv2.aruco, name)))
