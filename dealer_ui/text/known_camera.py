"""Vision's English sentences about the camera setup, marked for translation as in `known_sentences`.

Vision begins them with a small letter; they are shown with a capital letter and a full stop.
"""

from __future__ import annotations

from typing import Final

from dealer_ui.text.i18n import N_

CAMERA: Final = (
    N_("There is no picture to calibrate from: take some of the bare felt."),
    N_("The calibration pictures have different sizes; take all in one camera mode."),
    N_(
        "Not every marker was seen (%(join)s missing): clear the felt's edges, keep hands away, and "
        "calibrate again."
    ),
    N_(
        "The markers wander by %(wander)s pixels from picture to picture: fasten the camera, let the "
        "table be, and calibrate again."
    ),
    N_(
        "The felt was calibrated at %(width_px)s×%(height_px)s pixels; a picture of "
        "%(width)s×%(height)s has other proportions: calibrate in the camera's present mode."
    ),
    N_("This is no felt calibration (impossible values): calibrate again."),
    N_("This is no felt calibration (impossible size): calibrate again."),
    N_("This is no felt calibration (%(error)s): calibrate again."),
    N_(
        "The board can be made out in %(len)s of %(value)s pictures; %(MIN_VIEWS)s are needed: hold "
        "it flat, wholly in view, lit and sharp, each time at another angle."
    ),
    N_(
        "The board was shown over %(across)s of the picture's width and %(down)s of its height; at "
        "least %(MIN_COVERAGE)s are needed: show it near the edges too."
    ),
    N_(
        "The pictures do not agree: corners lie %(error_px)s pixels off, at most %(MAX_ERROR_PX)s are "
        "allowed; use a flat, stiff board and sharp pictures."
    ),
    N_(
        "The lens was calibrated at %(width_px)s×%(height_px)s pixels; a picture of "
        "%(width)s×%(height)s has other proportions: calibrate in the camera's present mode."
    ),
    N_("This is no lens calibration (wrong shape): calibrate again."),
    N_("This is no lens calibration (impossible values): calibrate again."),
    N_("This is no lens calibration (%(error)s): calibrate again."),
    N_("Two felts are in view (markers %(ids)s and again %(again)s): take one away or cover its markers."),
    N_("A picture must have 8 bits a channel, in one channel or in blue, green and red."),
    N_("The picture is %(width)s×%(height)s pixels; at least %(MIN_SIDE_PX)s each way are needed."),
    N_(
        "Only marker %(ids)s of the felt fits where it should be; at least two and better all %(len)s "
        "must be in view: clear the felt's edges, and check that the layout is the felt's."
    ),
    N_(
        "Only markers %(ids)s are in view; they leave the zones uncertain by %(doubt)s mm: clear the "
        "markers on the other sides of the felt."
    ),
    N_(
        "The markers lie %(error_mm)s mm from where this felt has them: lay the felt flat, calibrate "
        "the lens, or name the right layout."
    ),
    N_("There is no picture of the spread yet: lay the cards out and take one."),
    N_("The felt's markers are not seen: the whole felt must be in view, lit and in focus."),
    N_(
        "None of the felt's markers (%(wanted)s) is in view, but others are (%(ids)s): this is "
        "another felt; lay out the right one or name its layout."
    ),
    N_("No colour in this picture: suits cannot be told; set the camera to colour."),
    N_("The picture is out of focus: clean the lens and set the focus."),
    N_("The cards are too small in the picture: hang the camera lower or use its full resolution."),
    N_("The picture is overexposed: shorten the exposure or dim the lamps."),
    N_("The picture is too dark: turn the lamps up or lengthen the exposure."),
    N_("The camera or the felt has moved since it was calibrated; calibrate the felt between hands."),
    N_("The felt's calibration is of another layout; calibrate the felt again."),
    N_("The enrolled deck was learnt with another card reader's model; enrol the deck again."),
    N_("The text of the %(value)s is missing from the record; do it again."),
)
