"""The errors of vision. Every message is one sentence with a remedy for a person."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Self


def N_(text: str, /) -> str:  # noqa: N802 - gettext's own name for it
    """Mark a text for the page's catalogues and return it unchanged."""
    return text


class VisionError(Exception):
    """The root of all errors that vision raises on purpose.

    `template` is the English text with places such as `%(name)s`, `values` what stands there; `str` has them filled in.
    """

    def __init__(self, template: str = "", /, **values: object) -> None:
        self.template: Final = template
        self.values: Final = {name: v if isinstance(v, int | float) else str(v) for name, v in values.items()}
        super().__init__(template % self.values if values else template)

    def to_json(self) -> Mapping[str, Any]:
        """Return the template and its values as JSON values."""
        return {"message": self.template, "args": self.values}


class VisionFileError(VisionError, OSError):
    """A layout's, picture's, calibration's or deck's file that is missing, or cannot be read or written."""


class UnknownCardError(VisionError, ValueError):
    """A code that is not one of the 52 cards."""


class LayoutError(VisionError, ValueError):
    """A table layout that contradicts itself, or a text that is not a layout."""


class DeckError(VisionError, ValueError):
    """A deck's pictures that are missing or cannot be used."""


class RenderError(VisionError, ValueError):
    """A table that cannot be drawn as requested: an unknown place, too many cards in a row."""


class PictureError(VisionError, ValueError):
    """A picture that cannot be used: not an image, too small, too large."""

    @classmethod
    def of_size(cls, template: str, shape: Sequence[int], **values: object) -> Self:
        """Return the error of a picture of this shape (height first), whose width and height the template names."""
        return cls(template, height=shape[0], width=shape[1], **values)


class MarkersError(VisionError, ValueError):
    """The felt's markers do not determine where the felt is."""


class NoMarkersError(MarkersError):
    """No marker of this felt is in the picture."""


class TooFewMarkersError(MarkersError):
    """Markers of the felt are in the picture, but too few or too close together."""


class DisagreeingMarkersError(MarkersError):
    """The markers contradict each other: another felt, two felts, a bent felt, or the wrong layout."""


class CalibrationError(VisionError, ValueError):
    """A lens calibration that failed, or a stored one that cannot be used."""


class ModelError(VisionError, OSError):
    """The card reader's model is missing or cannot be run."""


class EnrolmentError(VisionError, ValueError):
    """A deck that cannot be enrolled or is not complete."""


class OpticsError(VisionError, ValueError):
    """An impossible camera position."""
