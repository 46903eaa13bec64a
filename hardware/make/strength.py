"""Whether the frame holds: its bend, its first natural frequency, what its joints carry, a knock. UNTESTED on hardware.

Closed formulas of any textbook on beams, from `mech/mech.toml`: two posts, held by a spring at the foot and by ties at
the top, and a beam on them with an overhang at either end; or the same beam hung from a ceiling on two pieces. Small
bends, SI units; the posts' own length does not change.
"""

import dataclasses
import math
from dataclasses import dataclass
from typing import Final

from hardware.make.bom import Bom
from hardware.make.finding import Finding, least, most
from hardware.make.frame import Frame

E_PA: Final = 70e9
"""Young's modulus of aluminium."""
G_PA: Final = 26e9
"""Its shear modulus."""
GRAVITY: Final = 9.81
MAX_SAG_MM: Final = 1.0
MIN_HZ: Final = 10.0
MAX_MOVED_MM: Final = 0.5
"""Movement of the camera when somebody leans on a post."""
ACCIDENT_N: Final = 200.0
"""Somebody hangs on the beam's end."""
KNOCK_N: Final = 50.0
"""Somebody leans on a post, at the table's height."""
MIN_TIES: Final = 3
"""Cable ties along the beam, and across it at each post: with one tie across, the other post swings."""
ALUMINIUM: Final = 2.7e-3
"""Kilograms of a metre of 1 mm²."""
STEEL: Final = 7.85e-6
"""Kilograms of a cubic millimetre."""
HINGED: Final = 0.0
RIGID: Final = math.inf
"""What a beam's joints with its posts hold, N·m/rad, at either limit: real brackets lie between them."""
AGREES: Final = 0.05
CARRIER_BRACKETS: Final = 4
"""Two for each carrier."""
POST_SHARE: Final = 33 / 140
"""Of a post's mass, what swings with its free end."""


def turning(ei: float, long: float, far: float) -> float:
    """Return the N·m/rad that turn a beam's end; `far` N·m/rad hold its other end: none 3EI/l, rigid 4EI/l."""
    return 4 * ei / long * (1 - ei / long / (4 * ei / long + far))


def swinging(ei: float, long: float, foot: float, at: float | None = None) -> float:
    """Return how far the free top of a post moves, m/N, pushed there or `at` metres up; its foot is a spring."""
    up = long if at is None else at
    return up**2 * (3 * long - up) / 6 / ei + up * long / foot


@dataclass(frozen=True)
class Portal:
    """Two posts or drops and a beam with two overhangs, symmetric; metres, kilograms, newtons.

    `ei` and `gj` are N·m² of bending and twisting, `mass` kg/m, `across` and `along` the N/m of the ties at each post
    and of all along the beam, `foot` N·m/rad, `joint` that of beam and post.
    """

    ei: float
    gj: float
    mass: float
    post: float
    span: float
    overhang: float
    lamp_out: float
    lamp_kg: float
    eye_kg: float
    foot: float
    across: tuple[float, float] = (0.0, 0.0)
    along: float = 0.0
    pushed: float | None = None
    ties: int | None = None
    joint: float = RIGID

    def through(self, held: float) -> float:
        """Return the N·m/rad that hold the beam where something of `held` N·m/rad does so through a joint."""
        return held if self.joint == RIGID else held * self.joint / (held + self.joint)

    @property
    def overhang_nm(self) -> float:
        """The moment of an overhang's weight at its post."""
        return GRAVITY * (self.lamp_kg * self.lamp_out + self.mass * self.overhang**2 / 2)

    def bends(self, held: float, inner: float = GRAVITY) -> tuple[float, float, float]:
        """Return how far lamps, ends and middle move, metres, by the weight across the beam.

        `held` N·m/rad hold it at each post, beside itself. Both posts turn alike. `inner` m/s² pull between the posts.
        """
        a, at, ei, span = self.overhang, self.lamp_out, self.ei, self.span
        inside = inner * (self.mass * span**2 / 12 + self.eye_kg * span / 8)
        turned = (self.overhang_nm - inside) / (2 * ei / span + held)
        lamp = self.lamp_kg * at**3 / 3 + self.mass * at**2 * (6 * a**2 - 4 * a * at + at**2) / 24
        end = self.lamp_kg * at**2 * (3 * a - at) / 6 + self.mass * a**4 / 8
        middle = self.mass * span**4 / 384 + self.eye_kg * span**3 / 192
        return (
            turned * at + GRAVITY * lamp / ei,
            turned * a + GRAVITY * end / ei,
            inner * middle / ei - turned * span / 4,
        )

    @property
    def sag_m(self) -> float:
        """How far the beam sags, at its ends or in its middle."""
        _, end, middle = self.bends(self.through(turning(self.ei, self.post, self.foot)))
        return max(abs(end), abs(middle))

    def _alike(self, post: float, inner: float) -> float:
        """Return ω² of both ends swinging sideways alike, on springs of `post` N/m, by Rayleigh's quotient.

        Its shape is what weight bends, which pulls with `inner` m/s² between the posts.
        """
        tops, ends, inside = (
            self.mass * long for long in (POST_SHARE * self.post, self.overhang, self.span / 2)
        )
        pulls = (self.lamp_kg + tops + ends) * GRAVITY + (self.eye_kg / 2 + inside) * inner
        lamp, end, middle = self.bends(self.through(self.gj / self.post), inner)
        moving = [(self.lamp_kg, GRAVITY, lamp), (ends, GRAVITY, end / 2), (tops, GRAVITY, 0.0)]
        moving += [(self.eye_kg / 2, inner, middle), (inside, inner, middle * 2 / 3)]
        work = sum(kg * pull * (far + pulls / post) for kg, pull, far in moving)
        return work / sum(kg * (far + pulls / post) ** 2 for kg, _, far in moving)

    @property
    def hertz(self) -> float:
        """The first natural frequency: sideways alike or in turn, along the beam, up and down."""
        post = 1 / swinging(self.ei, self.post, self.foot)
        weakest, twist = post + min(self.across), self.through(self.gj / self.post)
        out = self.span / 2 + self.lamp_out
        bend = self.lamp_out**3 / 3 / self.ei + self.lamp_out**2 / (6 * self.ei / self.span + twist)
        bend += 2 * out**2 / (weakest * self.span**2 / 2 + 2 * twist)
        in_turn = 1 / bend / (self.lamp_kg + self.mass * self.overhang / 3)
        half = self.mass * (self.span / 2 + self.overhang + POST_SHARE * self.post)
        along = (self.along / 2 + post) / (self.lamp_kg + self.eye_kg / 2 + half)
        alike = min(self._alike(weakest, inner) for inner in (GRAVITY, 0.0, -GRAVITY))
        return math.sqrt(min(alike, in_turn, along, GRAVITY / self.sag_m)) / 2 / math.pi

    def knocked_m(self, newtons: float) -> float:
        """Return how far the camera moves at most when somebody pushes a post, across the beam or along it.

        Across, the post is propped at its top by its tie, and the camera moves half as far as that; along, the beam
        holds the top, and turns there: so the camera also moves up.
        """
        assert self.pushed is not None
        at, post, span = self.pushed, self.post, self.span
        free, reach = swinging(self.ei, post, self.foot), swinging(self.ei, post, self.foot, at)
        across, along = (reach / (1 + free * stiff) for stiff in (min(self.across), self.along + 1 / free))
        other = self.through(turning(self.ei, post, self.foot))
        held = turning(self.ei, span, other)
        slopes = (up**2 / 2 / self.ei + up / self.foot for up in (post, at))
        turned = newtons * (next(slopes) * reach / free - next(slopes)) * other / (other + held)
        lift = turned * span / 8 * (1 + 2 * self.ei / span / (4 * self.ei / span + other))
        return max(newtons * across / 2, math.hypot(newtons * along, lift))


def portal(frame: Frame, *, tied: bool = True, hung: bool = False) -> Portal:
    """Return the frame as it stands on its posts, tied or not; or `hung` by drops from the ceiling."""
    sizes, strong, profile = frame.sizes, frame.measures["strength"], frame.measures["profile"]
    axis, near, far = frame.beam_z + sizes["profile_mm"] / 2, sizes["near_post_mm"][1], sizes["post_mm"][1]
    foot = sizes["floor_z_mm"] + (sizes["ceiling_mm"] if hung else sizes["plate_mm"][2])
    ties = sizes["ties_mm"] if tied and not hung else []
    stiff = {
        (y, way): 1000 * strong["tie_n_per_mm"] * sum(tie[1:] == [y, way] for tie in ties)
        for y in (far, near)
        for way in "xy"
    }
    return Portal(
        ei=E_PA * profile["bending_cm4"] * 1e-8,
        gj=G_PA * profile["twisting_cm4"] * 1e-8,
        mass=profile["kg_per_m"],
        post=abs(axis - foot) / 1000,
        span=(near - far) / 1000,
        overhang=(sizes["beam_long_mm"] - near + far) / 2000,
        lamp_out=(sizes["lamp_y_mm"] - (near - far) / 2) / 1000,
        lamp_kg=strong["lamp_kg"],
        eye_kg=strong["eye_kg"],
        foot=strong["foot_nm_per_rad"],
        across=(stiff[far, "x"], stiff[near, "x"]),
        along=stiff[far, "y"] + stiff[near, "y"],
        pushed=None if hung else -foot / 1000,
        ties=None if hung else len(ties),
    )


def judge(frame: Frame, it: Portal, name: str = "Frame") -> list[Finding]:
    """Judge bend, first frequency, a knock at the table's height, somebody hanging on the beam's end, ties.

    What the brackets decide is judged with the beam rigid on its posts and hinged on them: a bracket lies between.
    """
    strong, profile = frame.measures["strength"], frame.measures["profile"]
    # the largest at a post's top, and more than at its foot
    moment = it.overhang_nm + ACCIDENT_N * it.overhang
    mega, bears = moment / profile["modulus_cm3"], profile["yield_mpa"] / 2
    found = []
    for joint, how in ((RIGID, "rigid"), (HINGED, "hinged")):
        held, on = dataclasses.replace(it, joint=joint), f", beam {how} on its posts"
        found.append(most(f"{name}: sag{on}", "{:.2f} mm", 1000 * held.sag_m, MAX_SAG_MM, "{:g} mm"))
        rule = f"{name}: first natural frequency{on}"
        found.append(least(rule, "{:.1f} Hz", held.hertz, MIN_HZ, "{:g} Hz"))
        if it.pushed is not None:
            rule = f"{name}: the camera moves when {KNOCK_N:.0f} N push a post{on}"
            moved = 1000 * held.knocked_m(KNOCK_N)
            found.append(most(rule, "{:.2f} mm", moved, MAX_MOVED_MM, "{} mm"))
    rule, brackets = f"{name}: moment at a joint, {ACCIDENT_N:.0f} N at the beam's end", strong["brackets"]
    rated = brackets * strong["bracket_nm"]
    found.append(most(rule, "{:.0f} N·m", moment, rated, f"{{:.0f}} N·m ({brackets} brackets)"))
    found.append(most(f"{name}: stress in the profile then", "{:.0f} MPa", mega, bears, "{:.0f} MPa"))
    if it.ties is not None:
        found.append(least(f"{name}: stiff ties", "{}", it.ties, MIN_TIES, "{} or more"))
    return found


def tips_n(frame: Frame) -> float:
    """Return the force at the beam, across it, that tips the frame over where it is neither anchored nor tied."""
    sizes, strong = frame.sizes, frame.measures["strength"]
    long, wide, thick = sizes["plate_mm"]
    metres = (2 * sizes["post_long_mm"] + sizes["beam_long_mm"]) / 1000
    kilograms = metres * frame.measures["profile"]["kg_per_m"] + 2 * strong["lamp_kg"] + strong["eye_kg"]
    kilograms += 2 * long * wide * thick * STEEL
    return float(kilograms * GRAVITY * long / 2 / (frame.beam_z - sizes["floor_z_mm"]))


def profile_agrees(frame: Frame) -> Finding:
    """Judge whether the profile's figures are of one profile, and of the size that everything is drawn for."""
    profile, side = frame.measures["profile"], frame.sizes["profile_mm"]
    solid, modulus, weight = (
        side**4 / 12e4,
        profile["bending_cm4"] / (side / 20),
        profile["area_mm2"] * ALUMINIUM,
    )
    off = max(abs(profile["modulus_cm3"] / modulus - 1), abs(profile["kg_per_m"] / weight - 1))
    return Finding(
        "Frame: the profile's table agrees with itself",
        f"{side:g} mm: {profile['bending_cm4']:g} cm⁴, {profile['modulus_cm3']:g} cm³, {profile['kg_per_m']:g} kg/m; "
        f"{off:.0%} off",
        f"I/(a/2), area × density, within {AGREES:.0%}; below {solid:.1f} cm⁴, a solid bar's",
        off <= AGREES and profile["bending_cm4"] < solid and profile["area_mm2"] < side**2,
    )


def brackets_bought(frame: Frame, bom: Bom) -> Finding:
    """Judge whether the parts list has the brackets that the joints are computed with, of that rating."""
    strong, part = frame.measures["strength"], bom.get("brackets")
    rated, needed = part.number(r"([\d.]+) N·m"), 4 * strong["brackets"] + CARRIER_BRACKETS
    return Finding(
        "Frame: brackets on the parts list",
        f"{part.quantity}, {part.choice.name}",
        f"{needed}: {strong['brackets']} at each end of two posts, {CARRIER_BRACKETS} for the carriers; "
        f"{strong['bracket_nm']:g} N·m",
        part.quantity >= needed and rated == strong["bracket_nm"],
    )
