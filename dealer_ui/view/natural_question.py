"""The question about a natural: what was declared, what the cards are, what that is worth."""

from typing import Any, Literal

from dealer_ui.text.hand_words import natural_name, natural_words
from dealer_ui.text.i18n import gettext as _
from dealer_ui.text.i18n import ngettext
from dealer_ui.text.messages import say
from dealer_ui.view.screen import Action, Card, Need
from firmware.rules import OPTIONS, Declaration, Profile
from firmware.table.events import ROWS
from firmware.table.offers import Offer, Offers
from firmware.table.phase import Phase
from firmware.table.settling import natural_verdict
from firmware.table.state import Seat, State


def natural_question(
    state: State, rules: Profile, seat: Seat, waiting: int, may: Offers, confirm: Offer
) -> Need:
    """Ask the dealer to confirm or reject a declared natural; `waiting` more wait after this one."""
    verdict = natural_verdict(state, seat.seat, rules)
    natural = verdict.natural
    verified: Literal["yes", "no"] = "yes" if natural else "no"
    facts = [(_("Declared"), _("a natural") if seat.declares else _("nothing"))]
    if natural is not None:
        title = _("Seat %(seat)s · %(kind)s", seat=seat.seat, kind=natural_name(natural))
        template = (
            _("%(player)s declared a natural. The cards are %(hand)s.")
            if seat.declares
            else _("%(player)s's cards are %(hand)s: a natural, which counts undeclared.")
        )
        sentence = template % {"player": seat.player, "hand": natural_words(natural)}
        facts += [
            (_("The cards"), natural_name(natural)),
            (_("Worth"), ngettext("%(num)s point", "%(num)s points", natural.value)),
        ]
        if verdict.bonus:
            total = ngettext("%(num)s point", "%(num)s points", natural.value + verdict.bonus)
            facts.append((_("With its bonuses"), total))
    else:
        title = _("Seat %(seat)s · no natural", seat=seat.seat)
        voided = verdict.declaration is not None and verdict.declaration.verdict == "voided_by_foul"
        template = (
            _("%(player)s declared a natural. The rows lie in the wrong order, and the foul voids it.")
            if voided
            else _("%(player)s declared a natural. The cards do not bear it out.")
        )
        sentence = template % {"player": seat.player}
        facts += [
            (_("The cards"), _("a foul") if voided else _("no natural of this game")),
            (_("Worth"), _("nothing")),
        ]
    if waiting:
        facts.append((_("After this"), ngettext("%(num)s more natural", "%(num)s more naturals", waiting)))
    return Need(
        kind="natural",
        title=title,
        sentence=sentence,
        place=seat.place,
        rule=_came_to_nothing(rules, verdict.declaration) if natural is None else "",
        clause=rules.clause.get(verdict.declaration.clause, "")
        if natural is None and verdict.declaration
        else "",
        rows=tuple(tuple(Card("up", card.card or "") for card in seat.row(row)) for row in ROWS),
        facts=tuple(facts),
        verdict=verified,
        actions=(*look_again(state, may), Action.of(confirm, tone="go")),
    )


def _came_to_nothing(rules: Profile, declaration: Declaration | None) -> str:
    """Explain why a declaration has no effect."""
    if declaration is None:
        return ""
    if declaration.verdict == "voided_by_foul":
        return say(OPTIONS[declaration.clause][2].say(True))
    if declaration.clause == "naturals.excused_by_surrender":
        return _("An opponent had already surrendered, so the hand plays as it is set.")
    if rules.naturals.false_declaration == "regular":
        return _("A declaration that the cards do not show plays as it is set.")
    if rules.naturals.excused_by_surrender:
        return _(
            "A declaration that the cards do not show is a foul, unless an opponent had already surrendered."
        )
    return _("A declaration that the cards do not show is a foul.")


def look_again(state: State, may: Offers) -> tuple[Action, ...]:
    """Offer to read again; white does the same where that is the likely next step."""
    if state.phase is not Phase.REVIEW:
        return ()
    how: dict[str, Any] = {"tone": "go", "lamp": "white"} if may.white else {}
    return tuple(Action.of(offer, **how) for offer in may.of("look_again"))
