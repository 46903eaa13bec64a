"""The cards on the table compared with the record, in words: for the dealer's page and for the hand's timeline."""

from dealer_ui.text.i18n import gettext as _
from dealer_ui.text.i18n import ngettext
from dealer_ui.text.messages import say
from dealer_ui.text.words import cards_in_words, row_name
from firmware.table.values import ChangedRow, ComparedCards, WhyNotCompared


def words_of_change(row: ChangedRow) -> str:
    """Say which cards lie in a row now, and which were read there."""
    return _(
        "Seat %(seat)s, %(row)s: now %(now)s, read as %(was)s.",
        seat=row.seat,
        row=row_name(row.row),
        now=cards_in_words(row.now),
        was=cards_in_words(row.was) or "–",
    )


def words_of_comparison(event: ComparedCards) -> str:
    """Say what the comparison found, and what it did not compare."""
    sentences = [words_of_change(row) for row in event.changed]
    if event.changed:
        sentences.insert(0, _("Cards are no longer as they were read."))
    if event.reason:
        sentences.append(_("Not compared again: %(reason)s", reason=say(event.reason)))
    if event.same:
        sentences.append(
            ngettext(
                "Looked again: %(num)s row lies as it was read.",
                "Looked again: %(num)s rows lie as they were read.",
                event.same,
            )
        )
    if gone := _seats(event, "gone"):
        sentences.append(_("Not compared, cards were gone: seat %(seats)s.", seats=gone))
    if unsure := _seats(event, "unsure"):
        sentences.append(_("Not compared, not surely seen: seat %(seats)s.", seats=unsure))
    return " ".join(sentences)


def _seats(event: ComparedCards, why: WhyNotCompared) -> str:
    return ", ".join(str(seat) for seat in sorted({row.seat for row in event.not_compared if row.why == why}))
