"""What the reader is meant to reach, held against what was measured; nothing but the aims is given here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from models.training import real
from models.training.judge import Outcome, total
from models.training.measure import Measured
from models.training.unseen import JUDGING
from vision.synthetic.evaluation import Score, wilson

MANY = 100_000
"""Cards to be read without a silent error."""
SOFTENED = 20_000


@dataclass(frozen=True)
class Aim:
    """What the reader is meant to reach, what it reached, and whether that is it (None: it cannot be said)."""

    what: str
    aim: str
    figure: str
    met: bool | None


def aims(m: Measured) -> list[Aim]:
    """Hold the figures against the aims."""
    gaps, gaps_enrolled = (m.over(part) for part in m.gaps)
    whole, enrolled = m.over(m.ordinary), m.over(m.enrolled, JUDGING)
    return [
        *_real(m),
        *_tables("ordinary decks", whole, 0.995, 0.998),
        *_tables("ordinary decks, enrolled", enrolled, 0.998, 0.9995, unasked=0.98),
        *_tables("a third missing", gaps, None, 0.995),
        *_tables("a third missing, enrolled", gaps_enrolled, None, 0.998, unasked=0.97),
        _none("softened until a person hesitates", total(m.softened.values()).score, SOFTENED),
        _none("odd decks", total([*m.odd.values(), *_odd_enrolled(m)]).score, 1),
        *_photographs(m),
        *_machine(m),
    ]


def _real(m: Measured) -> Iterator[Aim]:
    trained = m.manifest["trained"].get("photographs", ())
    for known in ("trained on", "not trained on"):
        decks = [name for name in m.real if real.DECKS[name].trained_on(trained) == (known == "trained on")]
        if decks:
            what = f"real cards, {known}: {', '.join(decks)}"
            yield from _tables(what, total(m.real[name] for name in decks), 0.95, 0.99, cards=1)


def _tables(
    what: str,
    outcome: Outcome,
    right: float | None,
    sure: float,
    *,
    unasked: float | None = None,
    cards: int = MANY,
) -> Iterator[Aim]:
    """Yield the aims for tables: wholly right, sure and right, without a question, silent errors."""
    s = outcome.score
    if right is not None:
        yield _share(f"{what}: tables", "wholly right", right, s.whole, s.tables)
    yield _share(f"{what}: cards", "sure and right", sure, s.sure, s.cards)
    if unasked is not None:
        yield _share(f"{what}: no question", "of the tables", unasked, outcome.unasked, s.tables)
    yield _none(f"{what}: silent errors", s, cards)


def _odd_enrolled(m: Measured) -> list[Outcome]:
    return [outcome for (deck, _), outcome in m.enrolled.items() if deck not in JUDGING]


def _photographs(m: Measured) -> Iterator[Aim]:
    for name, least in (("bidly_deals", 0.98), ("foltysm_single", 1.0), ("edje_tf_cards", 1.0)):
        if name in m.photographs:
            s = m.photographs[name].score
            wanted = "all" if least == 1 else f"≥ {100 * least:.0f} %"
            yield Aim(
                f"photographs {name}",
                f"{wanted} of the labelled cards, none surely wrong, ≥ 95 % sure",
                f"{s.right} of {s.cards}, {s.wrong} surely wrong, {share(s.sure, s.cards)} sure",
                s.right >= least * s.cards and not s.wrong and s.sure >= 0.95 * s.cards,
            )
    if m.colourless:
        sure = sum(o.score.sure + o.score.wrong for o in m.colourless.values())
        yield Aim("the same photographs without colour", "no suit sure", f"{sure} cards sure", sure == 0)


def _machine(m: Measured) -> Iterator[Aim]:
    for threads, ms in m.ms.items():
        ratio = ms["total"] / ms["network"]
        what = f"frame to 52 cards, {threads} thread{'s' * (threads > 1)}"
        yield Aim(what, "≤ 2 of the network's time", f"{ratio:.2f}", ratio <= 2)
    if m.peer:
        figure = f"{m.peer.share:.2f}"
        yield Aim(f"the network's share of {m.peer.peer}", "≤ 0.4", figure, m.peer.share <= 0.4)
    else:
        yield Aim("the network's share of YOLO11n at 1280 px", "≤ 0.4", "not measured in this run", None)
    yield Aim("memory of a process that reads", "< 400 MB", f"{m.resident / 1e6:.0f} MB", m.resident < 400e6)
    yield Aim("model file", "≤ 5 MB", f"{m.bytes / 1e6:.2f} MB", m.bytes <= 5e6)


def _share(what: str, of_what: str, least: float, hits: int, of: int) -> Aim:
    return Aim(what, f"≥ {100 * least:g} % {of_what}", interval(hits, of), hits >= least * of)


def _none(what: str, score: Score, cards: int) -> Aim:
    """Hold silent errors against none in so many cards; where fewer were read it cannot be said."""
    high = wilson(score.wrong, score.cards)[1]
    figure = f"{score.wrong} in {score.cards:,} (≤ 1 in {1 / high:,.0f} at 95 %)"
    met = False if score.wrong else True if score.cards >= cards else None
    return Aim(what, f"none in {cards:,}" if cards > 1 else "none surely wrong", figure, met)


def share(hits: int, of: int) -> str:
    """Write a share in per cent."""
    return f"{100 * hits / of:.2f} %" if of else "–"


def interval(hits: int, of: int) -> str:
    """Write a share in per cent with its interval at 95 %."""
    low, high = wilson(hits, of)
    return f"{share(hits, of)} ({100 * low:.1f}–{100 * high:.1f})"
