"""The push-buttons' steps: each pressed many times, how their contacts bounce, and two at once."""

from collections import Counter
from typing import Any, Final

from firmware.acceptance.findings import Result, StepVerdict
from firmware.acceptance.limits import PRESSES
from firmware.acceptance.walk import NotMeasurable, Walk
from firmware.health.device_checks import NAMES, NOT_INSTALLED, name_of

BUTTONS: Final = ("next", "confirm", "reject")
LET_GO_S: Final = 1.0
"""Seconds after a round in which a press may still count twice, and the last contact opens."""
BOUNCES: Final = "Bounces by their length, number over ms"


def presses(walk: Walk) -> Result:
    """Have each push-button pressed in turn, many times; count presses that are missing, double or another's."""
    counted: Counter[str] = Counter()
    bounces: list[list[Any]] = []
    missing, double = [], []
    crossed = stuck = False
    for number in range(walk.presses):
        walk.technician.tell(
            f"   Round {number + 1} of {walk.presses}: press what blinks, white, green, red."
        )
        found = _round(walk)
        bounces += found["bounces"]
        for name, times in found["presses"].items():
            counted[name] += times
            if times > 1:
                double.append(name)
        if found["verdict"] != "pass":
            says = walk.trial.words("buttons", found)
            if found["why"] == "buttons_crossed":
                crossed = True
            elif found["verdict"] == "fail":
                stuck = True
            else:
                missing.append(found["asks"] or "?")
                says = f"{says} Nothing came within {walk.hands_s:.0f} s."
            break
    else:
        says = ""
    walk.trial.order("try_device", device="buttons", act="keep", seen=False)
    rest = [str(name_of(name)) for name in dict.fromkeys(missing)]
    sentences = [says] if says else []
    sentences += [f"Missing: {', '.join(rest)}."] if rest else []
    if double:
        sentences.append(
            f"Counted more than once in a round: {_names(double)}. Pressed twice? Then repeat this step."
        )
    worst = max(bounces, key=lambda one: one[2], default=None)
    figures = {
        "presses_missing": float(len(missing)),
        "presses_double": float(len(double)),
        "crossed": float(crossed),
        "stuck": float(stuck),
        "bounce_ms": None if worst is None else float(worst[2]),
        "bounce_edges": None if worst is None else float(max(one[1] for one in bounces)),
    }
    if worst is not None:
        sentences.append(f"The longest bounce is of {name_of(worst[0])}.")
    result = walk.result(
        "buttons.presses", figures, " ".join(sentences), curves={BOUNCES: histogram(bounces)}
    )
    if result.verdict is StepVerdict.PASS and walk.presses < PRESSES:
        result.verdict = StepVerdict.SHORT
        result.says = f"{walk.presses} of {PRESSES} presses each. {result.says}"
    result.notes |= {f"presses of {name_of(name)}": str(counted[name]) for name in BUTTONS}
    return result


def together(walk: Walk) -> Result:
    """Have two push-buttons pressed at once: both contacts close, and no press counts."""
    _begin(walk)
    walk.technician.tell("   Press the white and the green push-button at once, and let both go.")
    found = walk.watch("buttons", walk.hands_s, lambda seen: len({one[0] for one in seen["bounces"]}) > 1)
    if found is None:
        raise NotMeasurable(f"Two contacts did not close within {walk.hands_s:.0f} s.")
    ends = walk.clock() + LET_GO_S
    last = walk.watch("buttons", 2 * LET_GO_S, lambda seen: walk.clock() >= ends) or found
    counted = sum(last["presses"].values())
    says = "A press counted: were they pressed at once? Then repeat this step." if counted else ""
    return walk.result("buttons.together", {"presses_double": float(counted)}, says)


def histogram(bounces: list[list[Any]]) -> list[list[float]]:
    """Return how many bounces there are of each length in whole milliseconds, rounded up.

    >>> histogram([["next", 1, 0.0], ["next", 3, 1.2], ["next", 5, 1.9], ["reject", 3, 3.0]])
    [[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 1.0]]
    """
    of = Counter(int(-(-float(one[2]) // 1)) for one in bounces)
    return [[float(ms), float(of[ms])] for ms in range(max(of, default=-1) + 1)]


def _begin(walk: Walk) -> dict[str, Any]:
    """Begin the push-buttons' test. Raises NotMeasurable where there are none."""
    found = walk.watch("buttons", 0.0, lambda seen: True, begin=True)
    assert found is not None
    if found["why"] in ("buttons_absent", NOT_INSTALLED):
        raise NotMeasurable(walk.trial.words("buttons", found))
    return found


def _round(walk: Walk) -> dict[str, Any]:
    """Follow one round: white, green, red. Return the last answer, also if nothing more came."""
    found = _begin(walk)
    lamp = ""
    while found["verdict"] == "waits":
        if found["asks"] != lamp:
            lamp = found["asks"]
            walk.technician.tell(f"   {NAMES[lamp]}")
        came = walk.watch(
            "buttons",
            walk.hands_s,
            lambda seen, lamp=lamp: seen["verdict"] != "waits" or seen["asks"] != lamp,  # type: ignore[misc]
        )
        if came is None:
            return walk.watch("buttons", 0.0, lambda seen: True) or found
        found = came
    if found["verdict"] == "pass":
        ends = walk.clock() + LET_GO_S

        def is_over(seen: dict[str, Any]) -> bool:
            # each contact closed and opened
            return walk.clock() >= ends or len(seen["bounces"]) >= 2 * len(BUTTONS)

        found = walk.watch("buttons", 2 * LET_GO_S, is_over) or found
    return found


def _names(names: list[str]) -> str:
    return ", ".join(str(name_of(name)) for name in dict.fromkeys(names))
