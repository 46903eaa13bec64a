"""Device faults in words for dealers: one line over the felt. The technical detail is on the health page."""

from dataclasses import replace
from typing import Final

from dealer_ui.text.comparison_words import words_of_change
from dealer_ui.text.i18n import N_
from dealer_ui.text.i18n import gettext as _
from dealer_ui.text.messages import say
from dealer_ui.text.words import capital, device_name
from dealer_ui.view.screen import Alert
from dealer_ui.view.table_answer import TableAnswer
from firmware.table.phase import Phase
from firmware.table.state import Ask, State

RECORD: Final = "record"
"""The fault of a record in doubt, which is a need of its own."""
PLAY_ON: Final = N_("Play on, and tell the technician.")
SAID: Final = {
    "view": (N_("Hands off the table"), N_("The camera waits to see the placed cards.")),
    "disk": (N_("The disk is full"), N_("No new hand opens. Call the technician.")),
    "rules": (
        N_("The rules of this game contradict each other"),
        N_("No new hand opens. Call a floor person: another game must be put in force."),
    ),
    "pins": (N_("Somebody tries PINs"), N_("Look who touches this screen, and call a floor person.")),
    "camera": (N_("The camera sees nothing"), N_("Look at its cable. The game goes on.")),
    "puck": (N_("The puck is not seen"), N_("Play on: key the puck's seat.")),
    "buttons": (N_("The push-buttons do not answer"), N_("Touch the screen instead.")),
    "lamps": (N_("A lamp does not light"), N_("The screen says the same as the lamps.")),
    "buzzer": (N_("The buzzer is silent"), N_("Look at the screen for questions.")),
    "clock": (N_("The clock is not right"), PLAY_ON),
    "power": (N_("The power is weak"), PLAY_ON),
    "screen": (N_("The screen did not answer"), N_("Look at what is shown before you go on.")),
    "captures": (N_("A picture was not kept"), PLAY_ON),
    "calibration": (N_("The camera must be set up again"), PLAY_ON),
}
"""Device → what is wrong, and what a dealer does about it; in the order of urgency."""


def needs_device(state: State, name: str) -> bool:
    """Return whether the hand is blocked by a device that does not work. Then it is a question, not only an alert."""
    reads = state.phase in (Phase.PLACING, Phase.SHOWDOWN, Phase.READING)
    return name == "camera" and reads and not state.keyed


def unseen_press(table: TableAnswer) -> Alert | None:
    """Return the line about a push-button that did nothing because the screen did not show what it would do."""
    return Alert(title=_("Not done"), todo=say(table.notice)) if table.notice else None


def alert(state: State) -> Alert | None:
    """Return the line about what does not work, the most urgent first; None if everything works."""
    faults = [n for n in state.faults if n != RECORD and not needs_device(state, n)]
    if not faults:
        return None
    order = list(SAID)
    first, *others = (
        _words_of(state, name)
        for name in sorted(
            faults, key=lambda name: (order.index(name) if name in order else len(order), name)
        )
    )
    return replace(first, others=tuple(others))


def with_change_line(state: State, faults: Alert | None) -> Alert | None:
    """Return the line about cards that are no longer as they were read, before the faults; the faults without it."""
    if not state.changed:
        return faults
    title = _("Cards are no longer as they were read.").rstrip(".。")  # the page ends it itself
    lines = [Alert(title, words_of_change(row)) for row in state.changed]
    rest = (replace(faults, others=()), *faults.others) if faults else ()
    todo = _("%(changed)s Call the floor.", changed=lines[0].todo)
    return Alert(title, todo, (*lines[1:], *rest))


def _words_of(state: State, name: str) -> Alert:
    title, todo = SAID.get(name, (N_("%(device)s: not working"), PLAY_ON))
    advice = _(todo)
    if name == "puck" and state.button is not None:
        advice = _("Play on: the puck is at seat %(seat)s.", seat=state.button)
    if name == "camera" and state.phase is Phase.REVIEW and any(q.what is Ask.COUNT for q in state.questions):
        advice = _("Look at its cable, or key the cards.")
    return Alert(_(title, device=capital(device_name(name))) if name not in SAID else _(title), advice)
