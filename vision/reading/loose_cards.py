"""Reads every visible card in any photograph, at an unknown scale.

A pyramid of sizes gives a first reading. Its trusted cards give the index size in this photograph. The photograph is
then read again at the sizes that bring an index to the network's best size: in all at most eight times.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import cv2
import numpy as np

from vision.base.arrays import Image, Points
from vision.base.errors import N_, PictureError
from vision.felt.quality import PictureVerdict, colour
from vision.felt.resample import TOO_SMALL
from vision.reading.cards import RANKS
from vision.reading.decode import CLEARLY_THERE, Cluster, NamedCluster, clusters, fuse, name
from vision.reading.network import CardReader, Floats, Indices
from vision.reading.signs import cut_signs
from vision.reading.suits import judge_suits
from vision.reading.table_reading import ReadCard, denied_or, read_card

WIDE = N_("The picture is a panorama of %(width)s×%(height)s pixels, its cards too small: cut it into parts.")
_PYRAMID_PX = (300, 560, 1050, 1968)  # long side
_MAX_PASSES = 8
_MAX_FIRST_ENLARGED = 2.2  # times that a picture is enlarged for a first reading, at most
_MAX_ENLARGED = 2.6
_MAX_LONG_SIDE_PX = 3000
_BEST_INDEX_PX = 34.0
_SECOND_PASS = ((34.0, 1), (43.0, 0), (55.0, 2), (43.0, 3), (34.0, 2))
"""An index's height, and by how many quarters the picture is turned; the last ones where passes are left."""
_READABLE_PX = (13.0, 80.0)
_INDEX_MM = np.array([12.5, 26.0])  # how far an index reaches from its card's corner
_WIDTH_PX = 150.0  # of a card whose large signs are looked at, where the photograph shows it larger
_PANORAMA = 4  # times as long as high: shrunk to what is read, its cards would be too small
_ODD_SIZE = 1.55  # a group of cards this much larger or smaller than the rest is read at its own scale too


@dataclass(frozen=True)
class LooseCard:
    """A card in a photograph.

    Attributes:
        named: its name, margin and candidates.
        corners: 4 × 2, the card's estimated corners in pixels, from the index's own corner on clockwise.
        whole: whether both of its indices are seen, so that its corners hold.
    """

    named: NamedCluster
    corners: Points
    whole: bool


def read_loose(picture: Image, reader: CardReader) -> list[LooseCard]:
    """Read every card in a BGR picture (h × w × 3, uint8); the surest first.

    Raises PictureError for a picture that is too small for any size of the pyramid, and for a panorama.
    """
    scales = check_size(picture)
    long_side = max(picture.shape[:2])
    first = [read_at(picture, reader, scale) for scale in scales]
    coarse, trust = weigh(first, spread=0.45)
    if not len(coarse):
        return []
    fused = fuse(coarse, trust)
    sizes, weights = _index_sizes(fused, name(clusters(fused)))
    usual = _weighted_median(sizes, weights)
    views = [(wanted / usual, quarters) for wanted, quarters in _SECOND_PASS]
    strong = weights >= 1.0
    for group in (strong & (sizes > usual * _ODD_SIZE), strong & (sizes < usual / _ODD_SIZE)):
        if group.any():
            views.insert(3, (_BEST_INDEX_PX / _weighted_median(sizes[group], weights[group]), 0))
    most = min(_MAX_ENLARGED, _MAX_LONG_SIDE_PX / long_side)
    views = views[: _MAX_PASSES - len(first)]
    second = [read_at(picture, reader, min(scale, most), quarters) for scale, quarters in views]
    fine, trust = weigh(second, spread=0.5)
    certain = coarse.heat > 0.35
    everything = Indices.joined([fine, coarse.take(certain)])
    trust = np.concatenate([trust, 0.5 * weigh(first, spread=0.45)[1][certain]])
    expected = np.append(sizes[strong], usual)
    ratio = everything.sizes[:, None] / expected[None]
    fits = ((ratio < 2.1) & (ratio > 1 / 2.1)).any(axis=1)
    fits &= (everything.sizes > expected.min() / 1.7) & (everything.sizes < expected.max() * 1.7)
    indices = fuse(everything.take(fits), trust[fits])
    found = [LooseCard(n, *_corners(indices, n.cluster)) for n in name(clusters(indices))]
    return sorted(found, key=lambda card: -card.named.margin)


def check_size(picture: Image) -> list[float]:
    """Return the scales at which a picture of this size is read first.

    Raises PictureError for one that is too small for any of them, and for a panorama.
    """
    long_side = max(picture.shape[:2])
    if long_side > _PANORAMA * min(picture.shape[:2]):
        raise PictureError.of_size(WIDE, picture.shape)
    scales = [target / long_side for target in _PYRAMID_PX if target < _MAX_FIRST_ENLARGED * long_side]
    if not scales:
        least = math.floor(_PYRAMID_PX[0] / _MAX_FIRST_ENLARGED) + 1
        raise PictureError.of_size(TOO_SMALL, picture.shape, least=least)
    return scales


def read_photograph(picture: Image, reader: CardReader) -> tuple[list[ReadCard], dict[str, PictureVerdict]]:
    """Read every card in a BGR picture and judge its certainty; return the verdicts on the picture too.

    Raises PictureError for a picture that is too small, and for a panorama.
    """
    seen, cards = colour(picture), _with_signs(picture, read_loose(picture, reader), reader)
    suits, taken = judge_suits([card.named for card in cards])
    read = []
    for card, clear in zip(cards, taken, strict=True):
        one = read_card(card.named, card.corners, reader.calibrations.loose, fit=seen.ok and clear)
        read.append(denied_or(one, card.named))
    return read, {verdict.name: verdict for verdict in (seen, suits)}


def _with_signs(picture: Image, cards: list[LooseCard], reader: CardReader) -> list[LooseCard]:
    """Add what the large signs of cards whose corners hold say of their suits; print covers none of them."""
    clear = [card for card in cards if card.named.cluster.evidence > CLEARLY_THERE]
    if not clear:
        return cards
    widths = [np.linalg.norm(card.corners[1] - card.corners[0]) for card in clear]
    scale = min(1.0, _WIDTH_PX / float(np.median(widths)))
    small = np.asarray(cv2.resize(picture, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA), np.uint8)
    corners, ranks = [scale * card.corners for card in clear], [card.named.card[0] for card in clear]
    signs = cut_signs(small, np.asarray, corners, [_INDEX_MM] * len(clear), ranks)
    suits = reader.signs.suits(*signs, range(len(clear)))
    shown = dict(zip(map(id, clear), np.log(suits).repeat(len(RANKS), axis=1), strict=True))
    return [
        replace(card, named=replace(card.named, cluster=replace(card.named.cluster, whole=shown[id(card)])))
        if card.whole and id(card) in shown
        else card
        for card in cards
    ]


def read_at(picture: Image, reader: CardReader, scale: float, quarters: int = 0) -> tuple[Indices, float]:
    """Read the picture at a scale, rotated by quarter turns, and map the results back to its own pixels."""
    way = cv2.INTER_AREA if scale < 1 else cv2.INTER_CUBIC
    sized = np.asarray(cv2.resize(picture, None, fx=scale, fy=scale, interpolation=way), np.uint8)
    seen = reader.indices(np.ascontiguousarray(np.rot90(sized, quarters)))
    places, directions = seen.places, seen.directions
    for done in range(quarters):  # one quarter turn back at a time
        side = sized.shape[1 - (quarters - 1 - done) % 2]
        places = np.stack([side - 1 - places[:, 1], places[:, 0]], axis=1)
        directions = np.stack([-directions[:, 1], directions[:, 0]], axis=1)
    seen = replace(seen, places=places, directions=directions)
    readable = (seen.sizes > _READABLE_PX[0]) & (seen.sizes < _READABLE_PX[1])
    return seen.take(readable), scale


def weigh(passes: list[tuple[Indices, float]], spread: float) -> tuple[Indices, Floats]:
    """Join the passes in the photograph's own pixels; the weight falls with the distance from the best size."""
    trust = [np.exp(-0.5 * (np.log(seen.sizes / _BEST_INDEX_PX) / spread) ** 2) for seen, _ in passes]
    return Indices.joined([seen.scaled(1 / scale) for seen, scale in passes]), np.concatenate(trust)


def _index_sizes(indices: Indices, named: list[NamedCluster]) -> tuple[Floats, Floats]:
    """Return index heights and their weights, from the named cards or, without any, from all indices."""
    if not named:
        return indices.sizes, indices.heat
    sizes = np.array([indices.sizes[list(n.cluster.members)].mean() for n in named])
    return sizes, np.array([min(n.margin, 5.0) ** 1.5 + 1e-3 for n in named])


def _weighted_median(values: Floats, weights: Floats) -> float:
    order = np.argsort(values)
    total = np.cumsum(weights[order])
    return float(values[order[np.searchsorted(total, total[-1] / 2)]])


def _corners(indices: Indices, cluster: Cluster) -> tuple[Points, bool]:
    """Estimate a card's corners from its indices: two opposite ones give its size, one the usual proportions.

    Return too whether there were two.
    """
    k = cluster.members[0]
    along = indices.directions[k]
    start = indices.places[k]
    opposite = [m for m in cluster.members[1:] if indices.directions[m] @ along < 0]
    down = np.array([-along[1], along[0]])
    if opposite:
        across = indices.places[opposite[0]] - start
        mm = math.hypot(*across) / math.hypot(50, 63)
        # keeps both indices in place, whatever the perspective
        u, v = along * (across @ along) / 50, down * (across @ down) / 63
    else:
        mm = float(indices.sizes[k]) / 17.5
        u, v = along * mm, down * mm
    corner = start - 6.5 * u - 12.5 * v
    return np.array([corner, corner + 63 * u, corner + 63 * u + 88 * v, corner + 88 * v]), bool(opposite)
