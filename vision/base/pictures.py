"""Loads pictures from untrusted files; an unusable file gives an error of one sentence."""

import stat
import warnings
from collections.abc import Iterable, Iterator
from io import BytesIO
from pathlib import Path

import cv2
import numpy as np
from PIL import Image as Pillow

from vision.base.arrays import Image
from vision.base.errors import N_, PictureError, VisionFileError

SUFFIXES = frozenset({".jpg", ".jpeg", ".png", ".bmp", ".tif", ".tiff", ".webp"})
MIN_SIDE_PX = 32
MAX_PIXELS = 120_000_000  # a frame of 12 megapixels is usual; ten times that is a mistake
MAX_BYTES = 3 * MAX_PIXELS + 1_000_000  # those pixels, uncompressed
MAX_SCANS = 1_000
"""Scan markers in a JPEG's file. A camera's has one, a progressive one a dozen; in a video that a phone adds
behind the picture the same bytes occur some times by chance."""
_JPEG_START, _JPEG_SCAN, _JPEG_END = b"\xff\xd8", b"\xff\xda", b"\xff\xd9"


def load_picture(path: Path) -> Image:
    """Read a file as BGR uint8 (h × w × 3), turned upright by its EXIF orientation.

    Raises:
        VisionFileError: the file is missing or cannot be read.
        PictureError: it holds no picture, half a picture, or one that is too small or too large.
    """
    try:
        data = _read_bytes(path)
    except FileNotFoundError:
        raise VisionFileError(f"There is no file {path}.") from None
    except VisionFileError:  # an OSError, too
        raise
    except OSError as error:
        raise VisionFileError(f"{path} cannot be read: {error.strerror}.") from error
    return picture_of(data, path)


def picture_of(data: bytes, file: object, most_pixels: int = MAX_PIXELS) -> Image:
    """Return the picture in a file's bytes, as `load_picture` does. `file`: its name in errors.

    Raises:
        PictureError: it is not a picture, is incomplete, too small or too large.
    """
    if data.startswith(_JPEG_START) and _JPEG_END not in data[-4096:]:
        raise PictureError("%(file)s is cut off: the end of the JPEG is missing; copy it again.", file=file)
    if (pixels := _pixels(data)) > most_pixels:
        sizes = {"has": round(pixels / 1e6), "most": most_pixels // 10**6}
        raise PictureError("%(file)s has %(has)s megapixels; at most %(most)s are read.", file=file, **sizes)
    picture = _decode(data) if pixels else None
    if picture is None:
        raise PictureError("%(file)s is not a picture that can be read; use JPEG or PNG.", file=file)
    if odd := _oddity(data):
        raise PictureError(odd, file=file)
    if min(picture.shape[:2]) < MIN_SIDE_PX:
        only = N_("%(file)s is only %(width)s × %(height)s pixels; no card can be read in it.")
        raise PictureError.of_size(only, picture.shape, file=file)
    return picture


def decode_picture(data: bytes) -> Image | None:
    """Return a picture as BGR uint8 (h × w × 3); None unless it is one of at most MAX_PIXELS."""
    return _decode(data) if 0 < _pixels(data) <= MAX_PIXELS else None


def _decode(data: bytes) -> Image | None:
    """Decode a picture. Check its size before: a damaged header could make OpenCV allocate gigabytes."""
    try:
        picture = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
    except cv2.error:  # more pixels than OpenCV agrees to hold
        return None
    return None if picture is None else np.asarray(picture, np.uint8)


def _oddity(data: bytes) -> str:
    """Return why a picture may not show what a camera saw, as an error's template; "" if there is no such reason."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with Pillow.open(BytesIO(data)) as picture:
            frames = 1 if picture.format == "MPO" else getattr(picture, "n_frames", 1)  # a phone's depth map
            if picture.mode == "CMYK":
                return N_("%(file)s is in the colours of print (CMYK): save it in those of a screen (RGB).")
            if frames > 1:
                return N_(
                    "%(file)s holds more than one picture: save the one to be read as a file of its own."
                )
            if picture.has_transparency_data:
                whole = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED)
                if whole is None or whole.shape[2:] != (4,) or np.ptp(whole[..., 3]):
                    return N_("%(file)s has transparent parts: save it without transparency.")
    return ""


def _read_bytes(path: Path) -> bytes:
    """Return a file's bytes. Raises OSError; VisionFileError unless it is a regular file, PictureError if it is
    endless.

    A stick may hold a pipe, or a link to a device: reading those would block for ever, or exhaust the memory.
    """
    facts = path.stat()
    # for a folder the system's error is good enough
    if not stat.S_ISREG(facts.st_mode) and not path.is_dir():
        raise VisionFileError(f"{path} is no plain file.")
    if facts.st_size > MAX_BYTES:
        raise PictureError(f"{path} has {facts.st_size / 1e6:.0f} MB; at most {MAX_BYTES // 10**6} are read.")
    return path.read_bytes()


def _pixels(data: bytes) -> int:
    """Return the number of pixels that a file decodes to (a few kB may claim gigabytes); 0 for a file that is not
    whole.

    The chunks of a PNG declare their own lengths, too, and OpenCV allocates them before it reads the data. A JPEG of
    thousands of scans is not whole, either: each scan of a few bytes goes over all pixels.
    """
    if data.startswith(_JPEG_START) and data.count(_JPEG_SCAN) > MAX_SCANS:
        return 0
    try:
        with warnings.catch_warnings():
            # warnings about decompression bombs and damaged metadata: only the size is needed
            warnings.simplefilter("ignore")
            with Pillow.open(BytesIO(data)) as picture:
                picture.verify()
                return picture.width * picture.height
    except Pillow.DecompressionBombError:
        return MAX_PIXELS * 10
    except (OSError, ValueError, SyntaxError, OverflowError, MemoryError, EOFError):
        return 0


def picture_files(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield the named files, and the pictures in the named folders (sorted, without subfolders)."""
    for path in paths:
        if path.is_dir():
            yield from sorted(p for p in path.iterdir() if p.suffix.lower() in SUFFIXES)
        else:
            yield path
