"""Enrols a house's own deck from a spread of its 52 cards, and checks that a deck is complete.

The spread fills the felt: place A the clubs, B the diamonds, C the hearts, D the spades; in each place the front row
holds 2 3 4, the middle 5 6 7 8 9, the back T J Q K A, from the player's left. So the true card of every index is known,
and the network's last layer can be refitted for ranks and suits: a ridge-like correction that stays small unless the
deck requires more. How the pip reader reads each card is learnt too: a deck's own ornament denies its cards no more. It
takes a few seconds on one core.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from vision.base.arrays import Image, Points
from vision.base.errors import EnrolmentError
from vision.felt.geometry import find_felt
from vision.felt.layout import TableLayout
from vision.felt.lens import Lens
from vision.reading.cards import CARDS, RANKS, SUITS
from vision.reading.network import CardReader, DeckProfile, Floats, Indices, log_softmax
from vision.reading.pips import learnt
from vision.reading.table_reading import TableReading, observe, observe_whole, read

_PENALTY = 0.02
"""How much a change of the weights must earn: at this value odd decks gained and others lost nothing."""

_MAX_STEPS = 10_000  # a deck takes some hundred
_FLAT = 1e-6  # the greatest slope at which the loss is its least, to within a ten-millionth
_CLEAR = 0.6  # the least heat of an index; below, it may be print, except for the hottest on its card
_SLOT_MM = 45.0  # an index farther than this from its card's place is ignored
MIN_FRAMES = 2
"""Pictures of the spread: one to learn from, one to be judged on."""


def spread(layout: TableLayout) -> dict[str, dict[str, list[str]]]:
    """Return each card's place: by place and row, from the player's left.

    Raises:
        EnrolmentError: the felt does not have four places of 3, 5 and 5 cards.
    """
    hands: dict[str, dict[str, list[str]]] = {}
    for place, suit in zip(layout.places, SUITS, strict=False):
        ranks = iter(RANKS)
        for row in ("front", "middle", "back"):
            zone = layout.zone(place, row)
            hands.setdefault(place, {})[row] = [rank + suit for rank in islice(ranks, zone.capacity)]
    laid = [card for rows in hands.values() for cards in rows.values() for card in cards]
    if sorted(laid) != sorted(CARDS):
        raise EnrolmentError("A deck is laid out on four places of 3, 5 and 5 cards; this felt has others.")
    return hands


@dataclass(frozen=True)
class DeckCheck:
    """The faults of a spread: cards not seen in their place, and cards seen that belong elsewhere."""

    missing: tuple[str, ...]
    misplaced: tuple[str, ...]

    @property
    def whole(self) -> bool:
        """Whether all 52 cards lie where they belong."""
        return not self.missing and not self.misplaced

    def __str__(self) -> str:
        if self.whole:
            return "52 of 52 cards are there."
        parts = []
        if self.missing:
            parts.append(f"not seen in their places: {' '.join(self.missing)}")
        if self.misplaced:
            parts.append(f"seen where they do not belong: {' '.join(self.misplaced)}")
        return f"{52 - len(self.missing)} of 52 cards are there; " + "; ".join(parts) + "."


def check_deck(reading: TableReading, layout: TableLayout) -> DeckCheck:
    """Compare a reading with the spread; an unsure card does not count as seen."""
    hands = spread(layout)
    missing, misplaced = [], []
    for zone in reading.zones:
        want = hands[zone.place][zone.row]
        sure = [c.card for c in zone.cards if c.sure]
        missing += [card for card in want if card not in sure]
        misplaced += [card for card in sure if card not in want]
    return DeckCheck(tuple(missing), tuple(misplaced))


def enrol(frames: Sequence[Image], layout: TableLayout, reader: CardReader, name: str) -> DeckProfile:
    """Enrol a deck from at least two pictures of its spread (BGR, h × w × 3), the cards laid again before each if
    possible.

    Raises:
        EnrolmentError: too few pictures, cards missing, a wrong deck, or a result that does not read the spread.
        MarkersError: a picture does not show the felt.
    """
    lessons = [lesson(frame, layout, reader) for frame in frames]
    for number, one in enumerate(lessons, 1):
        one.refuse_a_wrong_deck(number)
    return learn(lessons, frames[-1], layout, reader, name)


def learn(
    lessons: Sequence[Lesson],
    last: Image,
    layout: TableLayout,
    reader: CardReader,
    name: str,
    lens: Lens | None = None,
) -> DeckProfile:
    """Enrol a deck from lessons; the `last` picture is the source of the last one.

    Raises:
        EnrolmentError: too few lessons, or a result that does not read the last picture.
    """
    if len(lessons) < MIN_FRAMES:
        raise EnrolmentError(
            "Take at least %(least)s pictures of the spread; there is %(count)s.",
            least=MIN_FRAMES,
            count=len(lessons),
        )
    # validate on a picture not used for training, before all pictures go into the profile
    trial = CardReader(reader.path, deck=_fit(lessons[:-1], name))
    wrong = [spot.card for spot in read_spread(last, layout, trial, lens) if spot.seen != spot.card]
    if wrong:
        raise EnrolmentError(
            "What was learnt misreads %(cards)s in the last picture; take more pictures.",
            cards=" ".join(sorted(wrong)),
        )
    return _fit(lessons, name)


@dataclass(frozen=True)
class Spot:
    """A place of the spread, the card that belongs there, and what was read there (None: nothing)."""

    place: str
    row: str
    card: str
    seen: str | None
    sure: bool


def read_spread(
    frame: Image, layout: TableLayout, reader: CardReader, lens: Lens | None = None
) -> list[Spot]:
    """Read a picture of the spread, place by place.

    Raises:
        MarkersError: the picture does not show the felt.
    """
    spots = []
    hands = spread(layout)
    view = find_felt(frame, layout, lens)
    for zone, read_zone in zip(layout.zones, read(frame, layout, reader, lens=lens).zones, strict=True):
        middles, laid = view.to_image(zone.to_felt(layout.slots_mm(zone))), read_zone.cards
        at = np.array([card.corners.mean(axis=0) for card in laid]).reshape(-1, 2)
        for card, middle in zip(hands[zone.place][zone.row], middles, strict=True):
            away = np.linalg.norm(at - middle, axis=1) / view.px_per_mm
            near = laid[int(away.argmin())] if len(away) and away.min() < _SLOT_MM else None
            spots.append(
                Spot(zone.place, zone.row, card, near.card if near else None, near is not None and near.sure)
            )
    return spots


@dataclass(frozen=True)
class Lesson:
    """What one picture of the spread teaches, with the true cards as numbers into CARDS.

    Attributes:
        indices, cards: the indices and their cards.
        elsewhere: false indices, from print on those cards; the profile must not name them more clearly.
        whole, whole_cards: the pips' readings of whole cards (n × 15), and their cards.
    """

    indices: Indices
    cards: NDArray[np.intp]
    elsewhere: Indices
    whole: Floats
    whole_cards: NDArray[np.intp]

    @property
    def missing(self) -> tuple[str, ...]:
        """The cards without any index in their place."""
        return tuple(code for k, code in enumerate(CARDS) if k not in set(self.cards.tolist()))

    @property
    def strange(self) -> tuple[tuple[str, str], ...]:
        """The cards surely read in another's place: (seen, wanted)."""
        belief = np.exp(self.indices.logp)
        other = belief.argmax(axis=1)
        strange = (belief.max(axis=1) > 0.98) & (belief[range(len(other)), self.cards] < 1e-3)
        pairs = zip(other[strange], self.cards[strange], strict=True)
        return tuple(sorted({(CARDS[o], CARDS[c]) for o, c in pairs}))

    def refuse_a_wrong_deck(self, number: int) -> None:
        """Raise EnrolmentError if this picture, `number` of its series, does not show the spread."""
        if self.missing:
            raise EnrolmentError(
                "Picture %(number)s does not show %(cards)s in the place the spread gives.",
                number=number,
                cards=" ".join(self.missing),
            )
        pairs = set(self.strange)
        if len(pairs) > len(CARDS) // 2:
            raise EnrolmentError(
                "Picture %(number)s does not show the spread: most cards lie elsewhere.", number=number
            )
        swapped = sorted(f"{a} in the place of {b}" for a, b in pairs if (b, a) in pairs)
        if swapped:
            some = ", ".join(swapped[:4]) + (" …" if len(swapped) > 4 else "")
            raise EnrolmentError(
                "In picture %(number)s cards seem to be swapped: %(some)s.", number=number, some=some
            )


def lesson(frame: Image, layout: TableLayout, reader: CardReader, lens: Lens | None = None) -> Lesson:
    """Find the indices of a spread and label each with the card of its place.

    Raises:
        MarkersError: the picture does not show the felt.
    """
    plain = CardReader(reader.path) if reader.deck else reader
    view, indices = observe(frame, layout, plain, lens)
    hands = spread(layout)
    middles, codes = [], []
    for zone in layout.zones:
        middles.append(zone.to_felt(layout.slots_mm(zone)))
        codes += hands[zone.place][zone.row]
    places = np.concatenate(middles)
    # an index is off its card's centre, towards its own corner: subtract that offset
    along = indices.directions
    down = np.stack([-along[:, 1], along[:, 0]], axis=1)
    own = indices.places + 25.0 * along + 31.0 * down
    nearest, within = _slots(own, places)
    near = within & (indices.heat > 0.3)
    hottest = np.zeros(len(places))
    np.maximum.at(hottest, nearest[near], indices.heat[near])
    keep = near & ((indices.heat > _CLEAR) | (indices.heat == hottest[nearest]))
    cards = np.array([CARDS.index(code) for code in codes])
    middles_seen, whole = observe_whole(frame, view, indices, layout, plain)
    whose, at_home = _slots(middles_seen, places)
    return Lesson(
        indices.take(keep),
        cards[nearest[keep]],
        indices.take(near & ~keep),
        whole[at_home],
        cards[whose[at_home]],
    )


def _slots(points: Points, places: Points) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Return for each point the nearest place, and whether it is near enough to belong there."""
    distance = np.linalg.norm(points[:, None] - places[None], axis=2)
    return distance.argmin(axis=1), distance.min(axis=1) < _SLOT_MM


def _fit(taught: Sequence[Lesson], name: str) -> DeckProfile:
    """Refit the last layer: the least correction that names the spread's indices rightly."""
    seen = Indices.joined([*(part.indices for part in taught), *(part.elsewhere for part in taught)])
    features = np.column_stack([seen.features, np.ones(len(seen))])
    cards = np.concatenate([part.cards for part in taught])
    # logp combines rank and suit as independent, so each is recovered by summing out the other
    by_suit = seen.logp.reshape(-1, len(SUITS), len(RANKS))
    before = np.hstack([np.logaddexp.reduce(by_suit, axis=1), np.logaddexp.reduce(by_suit, axis=2)])
    truth = np.exp(before)  # print keeps its previous names, no more clearly
    truth[: len(cards)] = 0
    truth[np.arange(len(cards)), cards % len(RANKS)] = 1
    truth[np.arange(len(cards)), len(RANKS) + cards // len(RANKS)] = 1
    weight = least_correction(features, before, truth, len(cards))
    pips = learnt(
        np.concatenate([part.whole for part in taught]), np.concatenate([part.whole_cards for part in taught])
    )
    return DeckProfile(name, weight[:, :-1], weight[:, -1], pips)


def least_correction(features: Floats, before: Floats, truth: Floats, count: int) -> Floats:
    """Return the weights that name every row as in truth, as far as they are worth their penalty (17 × features).

    Nesterov's accelerated gradient descent: the loss is as convex as the penalty, and no steeper than half the
    features' greatest singular value squared, so that step and momentum follow.

    Args:
        features: n × features.
        before, truth: n × 17, the log-probabilities of ranks and suits, and their probabilities as they should be.
        count: of cards; the loss is summed over all rows and divided by it.
    """
    ridge = 2 * _PENALTY
    steepest = float(np.linalg.norm(features, 2)) ** 2 / 2 / count + ridge
    momentum = (steepest**0.5 - ridge**0.5) / (steepest**0.5 + ridge**0.5)
    weight = ahead = np.zeros((before.shape[1], features.shape[1]))
    for _ in range(_MAX_STEPS):
        logits = before + features @ ahead.T
        named = np.hstack([log_softmax(logits[:, : len(RANKS)]), log_softmax(logits[:, len(RANKS) :])])
        slope = (np.exp(named) - truth).T @ features / count + ridge * ahead
        if np.abs(slope).max() < _FLAT:
            break
        last, weight = weight, ahead - slope / steepest
        ahead = weight + momentum * (weight - last)
    return weight
