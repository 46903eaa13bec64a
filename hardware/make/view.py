"""What the camera sees and what the lamps do: the field with every tolerance, light, glare. UNTESTED on hardware."""

import itertools
import math
from typing import Final

import numpy as np
import numpy.typing as npt

from hardware.make.finding import Finding, least, most
from hardware.make.frame import Frame
from hardware.make.tables import fill
from vision.felt.optics import CLOTH_MM, FINE_PX_PER_MM, MIN_LUX, MOUNTING_MM, WELL_PX_PER_MM, CameraModel

FIELD_DEG: Final = 1.0
"""How far a listed field of view may differ from the lens's own before each camera has to be measured."""
EVEN: Final = 0.75
"""The least light on the felt, as a share of its mean."""
TILT_DEG: Final = 5.0
"""How far a card may lie off flat: bent, or on another one."""
AGED: Final = 0.8
"""What is left of a lamp's light in the end, at most: no lamp is counted as ageless."""
GLARE_MM: Final = 20.0
"""How far beside every lamp the mirrored ray must pass, at least."""
DARK_DEG: Final = 60.0
"""From the vertical: from here on the hood hides the lamp. A seated eye opposite, 1.2 m above the floor and 0.1 m off
the table, looks at it so."""

Array = npt.NDArray[np.float64]


def camera_agrees(camera: CameraModel) -> Finding:
    """Judge whether a camera's listed field is its lens's own, or says that it has to be measured."""
    pairs = zip(camera.listed_fov_deg, camera.ideal_fov_deg, strict=False)
    off = max((abs(one - other) for one, other in pairs), default=0.0)
    measured = ", to be measured" if camera.measure_field else ""
    figure, rule = f"listed and computed differ by {off:.1f}°{measured}", f"Field of view: {camera.name}"
    holds = len(camera.listed_fov_deg) in (0, 2) and (off <= FIELD_DEG or camera.measure_field)
    return Finding(rule, figure, f"{FIELD_DEG:g}°, or measured", holds)


def worst_px_per_mm(frame: Frame) -> float:
    """Return the pixels per millimetre in the zones' farthest corner, every tolerance and the lens's barrel at once.

    A barrel of k at the picture's corner takes 3k · (r/c)² of the scale at r (the slope of r · (1 - k · (r/c)²)).
    """
    camera, high = frame.camera, frame.camera_mm[2] + MOUNTING_MM
    fine = camera.worst_px_per_mm(high, frame.layout) * (1 - camera.focal_tolerance)
    corner = np.abs(_zone_points(frame) - frame.middle).max(axis=0)
    picture = math.hypot(camera.width_px / 2, camera.height_px / 2)
    share = float(np.hypot(*corner)) * camera.px_per_mm(high) / picture
    return fine * (1 - 3 * float(frame.measures["lens"]["barrel"]) * share**2)


def field_holds(frame: Frame) -> list[Finding]:
    """Judge whether the whole felt is seen, and finely enough, when every tolerance adds up."""
    camera, z = frame.camera, frame.camera_mm[2]
    lowest, highest = camera.window_mm(frame.layout)
    lowest *= 1 + frame.measures["lens"]["pincushion"]
    low, high = z - MOUNTING_MM, z + MOUNTING_MM
    where, window = (
        f"{camera.name} at {z:.0f} ± {MOUNTING_MM:.0f} mm",
        f"{lowest:.0f} to {highest:.0f} mm",
    )
    seen, fine = lowest <= low and high <= highest, worst_px_per_mm(frame)
    return [
        Finding("Felt in the picture, every tolerance at once", where, window, seen),
        least("Pixels in the zones' farthest corner", "{:.2f} px/mm", fine, FINE_PX_PER_MM, "{:g} px/mm"),
    ]


def layout_agrees(frame: Frame) -> Finding:
    """Judge whether `table.toml`, and so the program and the renderer, has the build's camera at its height."""
    plan, camera, z = frame.layout.camera, frame.camera, frame.camera_mm[2]
    size = (camera.width_px, camera.height_px)
    return Finding(
        "The layout's camera (table.toml) is the build's",
        f"{plan.name}, {plan.width_px} × {plan.height_px} px, {plan.horizontal_fov_deg:g}°, {plan.height_mm:.0f} mm",
        f"{camera.name}, {size[0]} × {size[1]} px, {camera.ideal_fov_deg[0]:.1f}°, {z:.0f} mm",
        (plan.name, plan.width_px, plan.height_px) == (camera.name, *size)
        and abs(plan.horizontal_fov_deg - camera.ideal_fov_deg[0]) < 0.1
        and abs(plan.height_mm - z) < 1,
    )


def reader_measured(frame: Frame) -> Finding:
    """Judge whether the build's picture is at least as fine as the coarsest that the reader was measured at."""
    rule = "The reader was measured at this scale (docs/reader-report.md)"
    return least(rule, "{:.2f} px/mm", worst_px_per_mm(frame), WELL_PX_PER_MM, "{:g} px/mm")


def lux(frame: Frame) -> tuple[float, float, float]:
    """Return the least, the mean and the most light of both bars alone on the felt, new; Lambert's law."""
    width, height = frame.layout.width_mm, frame.layout.height_mm
    x, y = np.meshgrid(np.linspace(0, width, 9), np.linspace(0, height, 9))
    light = np.zeros_like(x)
    long = frame.sizes["lamp_long_mm"]
    pieces = np.linspace(-long / 2, long / 2, 25)
    intensity = frame.sizes["lamp_lm"] / math.pi / len(pieces)  # candela, straight ahead
    for lamp_x, lamp_y, lamp_z in frame.lamps_mm:
        aim = np.array([0.0, frame.middle[1] - lamp_y, -lamp_z])
        aim /= np.linalg.norm(aim)
        for piece in pieces:
            dx, dy = x - lamp_x - piece, y - lamp_y
            far = np.sqrt(dx**2 + dy**2 + lamp_z**2)
            ahead = (dy * aim[1] - lamp_z * aim[2]) / far
            light += intensity * np.clip(ahead, 0, 1) * (lamp_z / far) / (far / 1000) ** 2
    return float(light.min()), float(light.mean()), float(light.max())


def _zone_points(frame: Frame) -> Array:
    """The corners of all zones and the middles of their long sides, on the felt."""
    found = []
    for zone in frame.layout.zones:
        along = (0, zone.width_mm / 2, zone.width_mm)
        found.append(zone.to_felt(np.array([[a, b] for a in along for b in (0, zone.height_mm)])))
    return np.concatenate(found)


def mirror_points(
    frame: Frame, z: float, tilt_deg: float, felt_off: float = 0.0, eye_off: tuple[float, float] = (0.0, 0.0)
) -> Array:
    """Return where the camera sees what hangs at height z mirrored in cards that lie in the zones: points, mm.

    Cards lie flat, or tilted by up to `tilt_deg` in any direction. x, y from the felt's corner, as everywhere. The felt
    lies `felt_off` mm beside its place along y, the lens hangs `eye_off` beside its own, along y and above.
    """
    corners = _zone_points(frame) + (0.0, felt_off)
    eye = np.array(frame.camera_mm) + (0.0, *eye_off)
    at = np.column_stack([corners, np.zeros(len(corners))])
    ray, found = at - eye, []
    for tilt in np.radians(np.linspace(0, tilt_deg, 6)):
        for around in np.linspace(0, 2 * math.pi, 72, endpoint=False):
            lean = math.sin(tilt)
            normal = np.array([lean * math.cos(around), lean * math.sin(around), math.cos(tilt)])
            out = ray - 2 * (ray @ normal)[:, None] * normal
            found.append(at[:, :2] + out[:, :2] * (z / out[:, 2])[:, None])
    return np.concatenate(found)


def glare_mm(frame: Frame, tilt_deg: float = TILT_DEG) -> float:
    """Return how far beside the nearest lamp a mirrored ray passes; negative: it meets one.

    The felt and the lens are as far beside their places, towards opposite sides, as the build's tolerances allow.
    """
    clear, cloth, lens = math.inf, CLOTH_MM, MOUNTING_MM
    for (x, y, z), side, up in itertools.product(frame.lamps_mm, (-1, 1), (-lens, lens)):
        seen = mirror_points(frame, z, tilt_deg, side * cloth, (-side * lens, up))
        beside = np.abs(seen - (x, y)) - (frame.sizes["lamp_long_mm"] / 2, frame.sizes["lamp_wide_mm"] / 2)
        clear = min(clear, float(beside.max(axis=1).min()))
    return clear


def ceiling_mm(frame: Frame, tilt_deg: float = TILT_DEG) -> tuple[float, float]:
    """Return the half sides, from the table's middle, of what must be dark at the ceiling."""
    z = frame.sizes["ceiling_mm"] + frame.sizes["floor_z_mm"]
    far = np.abs(mirror_points(frame, z, tilt_deg) - frame.middle).max(axis=0)
    return float(far[0]), float(far[1])


def seen_deg(frame: Frame) -> float:
    """Return from where on a lamp is dark: the flattest ray from its outer edge past the hood, off the vertical."""
    (_, (inward, down)), (tip_in, tip_down) = frame.lamp_edges_mm, frame.hood_tip_mm
    return math.degrees(math.atan2(tip_in - inward, tip_down - down))


def light_holds(frame: Frame) -> list[Finding]:
    """Judge light, evenness, glare and the hoods."""
    low, mean, _ = lux(frame)
    aged = low * min(frame.sizes["lamp_aged"], AGED)
    glare = f"Glare: cards up to {TILT_DEG:g}° off flat mirror no lamp, every tolerance at once"
    beside, hoods = "{:.0f} mm beside the nearest lamp", "Hoods hide the lamps from seated eyes opposite"
    return [
        least("Light on the felt, lamps aged", "{:.0f} lux at least", aged, MIN_LUX, "{:.0f} lux"),
        least("Evenness of the light", "least ÷ mean {:.2f}", low / mean, EVEN, "{}"),
        least(glare, beside, glare_mm(frame), GLARE_MM, "{:.0f} mm"),
        most(hoods, "dark from {:.1f}° off the vertical", seen_deg(frame), DARK_DEG, "{:g}°"),
    ]


def light_text(frame: Frame) -> str:
    """Say in words what the lamps do."""
    low, mean, high = lux(frame)
    facts = {"least": low, "mean": mean, "most": high, "aged": frame.sizes["lamp_aged"], "tilt": TILT_DEG}
    around = {"flat": ceiling_mm(frame, 0.0), "bent": ceiling_mm(frame), "glare": glare_mm(frame)}
    return fill("light.md", ceiling=frame.sizes["ceiling_mm"] / 1000, **facts, **around).rstrip()
