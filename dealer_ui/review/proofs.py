"""Whether the record holds what was written: the hash chain of a hand's rows, and its stored pictures. Pure."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from dealer_ui.text.i18n import gettext as _
from dealer_ui.text.i18n import ngettext
from firmware.record.archive import Hand, Image


@dataclass(frozen=True)
class Proof:
    """One check, and whether it passed."""

    words: str
    holds: bool = True


def proofs(hand: Hand, images: Iterable[Image]) -> tuple[Proof, ...]:
    """Verify a hand in the record: the hash chain of its rows, and its stored pictures."""
    n: Counter[str] = Counter(image.state for image in images)
    words = {
        "ok": ngettext(
            "%(num)s picture is as it was stored.", "%(num)s pictures are as they were stored.", n["ok"]
        ),
        "dropped": ngettext(
            "%(num)s picture is no longer kept, as the house's rule says.",
            "%(num)s pictures are no longer kept, as the house's rule says.",
            n["dropped"],
        ),
        "missing": ngettext("%(num)s picture is missing.", "%(num)s pictures are missing.", n["missing"]),
        "unreadable": ngettext(
            "%(num)s picture cannot be read.", "%(num)s pictures cannot be read.", n["unreadable"]
        ),
        "changed": ngettext(
            "%(num)s picture is not what was stored.",
            "%(num)s pictures are not what was stored.",
            n["changed"],
        ),
    }
    pictures = (Proof(text, holds=state in ("ok", "dropped")) for state, text in words.items() if n[state])
    return (_chain_proof(hand), *pictures)


def _chain_proof(hand: Hand) -> Proof:
    before = None
    for row in (*hand.rows, *hand.later):
        follows = before is None or row.seq != before.seq + 1 or row.previous == before.hash
        if row.hash != row.sealed() or not follows:
            return Proof(_("Row %(row)s was changed after it was written.", row=row.seq), holds=False)
        before = row
    words = _(
        "Rows %(first)s to %(last)s are as they were written.", first=hand.rows[0].seq, last=hand.rows[-1].seq
    )
    return Proof(words)
