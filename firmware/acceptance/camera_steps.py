"""The camera's steps: mounting, sharpness, scale, light, glare, flicker, calibration, ten minutes of standing still.

All figures are vision's own, as the set-up page shows them.
"""

from typing import Final

from firmware.acceptance.findings import Result
from firmware.acceptance.limits import LIMITS, STILL_MINUTES
from firmware.acceptance.walk import TOLD_EVERY_S, NotMeasurable, Walk, advice, of_verdict

PICTURES: Final = 6
"""Pictures in which stripes are looked for: they run through the picture."""
MOVED: Final = "Felt moved in the picture, mm over minutes"


def mounting(walk: Walk) -> Result:
    """Measure how the camera hangs: markers, flatness, tilt, room at the edge."""
    seen = walk.look("camera.mounting")
    markers = seen["markers"]
    figures = {
        "markers_missing": float(markers["limit"]) - float(markers["figure"]),
        "fit_px": of_verdict(seen, "fit"),
        "tilt_deg": of_verdict(seen, "tilt"),
        "edge_room_px": of_verdict(seen, "margin"),
    }
    return walk.result("camera.mounting", figures, advice(seen, ("markers", "fit", "tilt", "margin")))


def sharpness(walk: Walk) -> Result:
    """Measure over how many millimetres the blurriest marker's edge goes from black to white."""
    seen = walk.look("camera.sharpness")
    figures = {"edge_mm": of_verdict(seen, "sharpness")}
    return walk.result("camera.sharpness", figures, advice(seen, ("sharpness",)))


def scale(walk: Walk) -> Result:
    """Measure pixels per millimetre in the farthest zone; the build's limit is higher than the reader's own."""
    seen = walk.look("camera.scale")
    figure = of_verdict(seen, "resolution")
    limit = LIMITS["px_per_mm"]
    says = advice(seen, ("resolution",))
    if not says and figure is not None and not limit.holds(figure):
        says = "The cards can be read, but coarser than the build promises: hang the camera lower."
    return walk.result("camera.scale", {"px_per_mm": figure}, says)


def light(walk: Walk) -> Result:
    """Measure exposure and colour, and count the settings that the camera did not take."""
    seen = walk.look("camera.light")
    told = walk.trial.order("health").get("facts", {}).get("camera_settings") or ()
    refused = [str(one["name"]) for one in told if not one["took"]]
    figures = {
        "white": of_verdict(seen, "light"),
        "colour": of_verdict(seen, "colour"),
        "settings_refused": float(len(refused)) if told else None,
    }
    says = advice(seen, ("light", "colour"))
    if refused:
        says += f" Not taken by the camera: {', '.join(refused)}."
    return walk.result("camera.light", figures, says.strip())


def glare(walk: Walk) -> Result:
    """Measure the largest overexposed patch in any zone."""
    seen = walk.look("camera.glare")
    return walk.result("camera.glare", {"glare_mm2": of_verdict(seen, "glare")}, advice(seen, ("glare",)))


def flicker(walk: Walk) -> Result:
    """Measure stripes in several pictures, and how much the light differs between them."""
    worst, says, whites = None, "", []
    for number in range(PICTURES):
        seen = walk.look("" if number else "camera.flicker")
        stripes = of_verdict(seen, "banding", 100.0)
        white = of_verdict(seen, "light")
        if stripes is None or white is None:
            return walk.result("camera.flicker", {"banding_percent": None}, advice(seen, ("banding",)))
        whites.append(white)
        says = says or advice(seen, ("banding",))
        worst = max(worst or 0.0, stripes)
    figures = {"banding_percent": worst, "white_spread": max(whites) - min(whites)}
    return walk.result("camera.flicker", figures, says)


def calibration(walk: Walk) -> Result:
    """Calibrate the felt, as the set-up does: from here on it is seen whether the camera moves."""
    walk.trial.order("end_trial")
    done = walk.trial.job("calibrate_felt")
    if not done["ok"] or done["state"] != "done":
        raise NotMeasurable(str(done.get("why") or done.get("error")))
    figures = done["result"]["figures"]
    return walk.result("camera.calibration", {"calibration_px": float(figures["error_px"])})


def still(walk: Walk) -> Result:
    """Measure for ten minutes how far the markers wander from where the calibration saw them."""
    began = told = walk.clock()
    length = walk.length(STILL_MINUTES)
    curve: list[list[float]] = []
    walk.technician.tell(
        f"   {length:g} minutes: touch neither the table nor the beam, then lean on it as dealers do."
    )
    while True:
        seen = walk.look("" if curve else "camera.still")
        minutes = (walk.clock() - began) / 60
        moved = of_verdict(seen, "camera")
        if moved is None:
            raise NotMeasurable(
                advice(seen, ("camera",))
                if "fit" not in seen
                else "Calibrate the felt first: camera.calibration."
            )
        curve.append([round(minutes, 3), round(moved, 3)])
        worst = max(point[1] for point in curve)
        result = walk.result(
            "camera.still",
            {"moved_mm": worst, "moved_first_mm": curve[0][1]},
            advice(seen, ("camera",)),
            curves={MOVED: curve},
            minutes=minutes,
            wanted_minutes=STILL_MINUTES,
        )
        if minutes >= length:
            return result
        walk.run.keep(result)  # a cut here leaves "not measured long enough"
        if walk.clock() - told >= TOLD_EVERY_S:
            told = walk.clock()
            walk.technician.tell(f"   {minutes:.1f} of {length:g} minutes; moved {worst:.2f} mm at most")
        walk.pause(walk.every_s)
