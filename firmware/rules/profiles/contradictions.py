"""Contradictory options: each is valid on its own, but not in combination."""

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from firmware.messages import Message
from firmware.rules.currency import money_text
from firmware.rules.lowball import BEST
from firmware.rules.profiles.dealt_cards import dealing_contradictions
from firmware.rules.profiles.natural_lists import list_troubles
from firmware.rules.profiles.options import Pairs, text_toml
from firmware.rules.profiles.profile import Profile
from firmware.rules.profiles.targets import BEST_LOW, Target
from firmware.rules.strength import HIGHS, LOWS, Category
from firmware.rules.words import ROW_NAMES


class Contradiction(NamedTuple):
    """Why two options contradict each other."""

    path: str
    """The option to change first."""
    sentence: Message


def contradictions(profile: Profile) -> tuple[Contradiction, ...]:
    """Return all contradictions in a profile.

    >>> from firmware.rules import load_profile
    >>> house = load_profile("california-face-up").with_options({"limits.buy_in": 100, "limits.max_stack": 10})
    >>> [found.path for found in contradictions(house)]
    ['limits.max_stack']
    """
    return (
        *_limits(profile),
        *_rows(profile),
        *_lowball(profile),
        *_bonuses(profile),
        *_naturals(profile),
        *_between_hands(profile),
        *(Contradiction(*found) for found in dealing_contradictions(profile)),
        *_weaker_pays_more(profile),
    )


_Findings = Iterator[Contradiction]


def _contradiction(path: str, sentence: str, /, **args: object) -> Contradiction:
    return Contradiction(path, Message(sentence, **args))


def _limits(profile: Profile) -> _Findings:
    limits = profile.limits
    if 0 < limits.max_stack < limits.buy_in:
        yield _contradiction(
            "limits.max_stack",
            "A player must buy in for at least %(least)s times the table limit, and no stack may exceed "
            "%(most)s times: nobody could sit down.",
            least=limits.buy_in,
            most=limits.max_stack,
        )
    if 0 < limits.max_stack < limits.min_points:
        yield _contradiction(
            "limits.max_stack",
            "A player needs %(least)s points' worth of chips to be dealt in, and no stack may exceed "
            "%(most)s: nobody could be dealt in.",
            least=limits.min_points,
            most=limits.max_stack,
        )
    if 0 < limits.buy_in < limits.min_points:
        yield _contradiction(
            "limits.buy_in",
            "A player who buys in for %(least)s times the table limit has fewer than the %(points)s points that "
            "it takes to be dealt in.",
            least=limits.buy_in,
            points=limits.min_points,
        )
    if limits.max_unit:
        for rate in profile.collection.schedule:
            if rate.limit > limits.max_unit:
                yield _contradiction(
                    "limits.max_unit",
                    "A point is worth at most %(most)s, and option %(option)s of the collection is for a "
                    "table limit of %(limit)s.",
                    most=money_text(limits.max_unit),
                    option=rate.option,
                    limit=money_text(rate.limit),
                )


def _rows(profile: Profile) -> _Findings:
    scoring = profile.scoring
    if scoring.rows and scoring.row:
        yield _contradiction(
            "scoring.row", "What each row is worth stands in scoring.rows, so scoring.row must be 0."
        )
    if scoring.rows and scoring.outcome:
        yield _contradiction(
            "scoring.rows",
            "Rows cannot be worth different points where scoring.outcome counts them as a whole.",
        )
    if scoring.suits and scoring.ties == "button":
        yield _contradiction(
            "scoring.ties", "Scoring.suits decides every equal row, so the puck could never win one."
        )
    for path, times in (
        ("scoring.scoop_times", scoring.scoop_times),
        ("scoring.beat_all_times", scoring.beat_all_times),
    ):
        if times == 1:
            yield _contradiction(
                path, "%(option)s = 1 multiplies nothing; write 0, or 2 and more.", option=path
            )


def _lowball(profile: Profile) -> _Findings:
    low = LOWS.get(profile.hands.middle)
    if low is None and profile.foul.low_middle != "any":
        yield _contradiction(
            "foul.low_middle",
            "Foul.low_middle asks for a low, and hands.middle says that the highest hand wins the middle.",
        )
    wrong: dict[str, list[str]] = {}
    for path, hand in (
        *((f"bonus.{row}", hand) for row in ROW_NAMES for hand, _ in getattr(profile.bonus, row)),
        *(
            (f"fantasyland.{name}", hand)
            for name in ("entry", "stay")
            for row, hand in getattr(profile.fantasyland, name)
            if row == "middle"
        ),
    ):
        is_low = hand == BEST_LOW or hand.partition(":")[0] in LOWS
        in_middle = path.startswith("fantasyland.") or path == "bonus.middle"
        if low is not None and in_middle and Target.parse(hand, front=False).category is not low:
            wrong.setdefault(path, []).append(hand)
        elif is_low and not (low is not None and in_middle):
            yield _contradiction(
                path,
                "%(option)s names %(hand)s, and only a lowball middle has lows (hands.middle).",
                option=path,
                hand=hand,
            )
    for path, hands in wrong.items():
        yield _contradiction(
            path,
            "%(option)s names %(hands)s; hands.middle has the lowest hand win, so a middle is named as in %(example)s. "
            "Write such a table, or an empty one: if the file has none, the table of the game that it extends counts.",
            option=path,
            hands=", ".join(hands),
            example=f'"{profile.hands.middle}:8"',
        )
    if low is not None:
        for path, is_set in (
            ("scoring.suits", profile.scoring.suits),
            ("foul.suit_tiebreak", profile.foul.suit_tiebreak),
            ("bonus.doubles_same_category", profile.bonus.doubles_same_category),
        ):
            if is_set:
                yield _contradiction(path, "%(option)s cannot be played with a lowball middle.", option=path)


def _bonuses(profile: Profile) -> _Findings:
    bonus = profile.bonus
    tables = {f"bonus.{row}": getattr(bonus, row) for row in ("front", "middle", "back")}
    named = [path for path, table in tables.items() if table]
    if bonus.pays == "none":
        if named:
            yield _contradiction(
                "bonus.pays",
                "%(option)s names bonuses, and bonus.pays says that there are none.",
                option=named[0],
            )
        for path, is_set in (
            ("foul.pays_bonus", profile.foul.pays_bonus),
            ("naturals.keeps_bonus", profile.naturals.keeps_bonus),
            ("naturals.pays_bonus", profile.naturals.pays_bonus),
        ):
            if is_set:
                yield _contradiction(
                    path, "%(option)s has bonuses paid, and bonus.pays says that there are none.", option=path
                )
    elif not named:
        yield _contradiction(
            "bonus.pays", "Bonuses are to be paid (bonus.pays), but no hand of any row has one."
        )
    if bonus.doubles_same_category and bonus.pays != "replaces":
        yield _contradiction(
            "bonus.doubles_same_category",
            "Only a bonus that takes the row's place can count twice, and bonus.pays is not replaces.",
        )
    if profile.hands.wheel == "not_a_straight":
        for path, table in tables.items():
            for hand in ("straight:5", "straight_flush:5"):
                if hand in dict(table):
                    yield _contradiction(
                        path,
                        "%(option)s names %(hand)s, and hands.wheel says that 5-4-3-2-A is no straight.",
                        option=path,
                        hand=hand,
                    )
    if profile.scoring.outcome and bonus.pays == "replaces":
        yield _contradiction(
            "scoring.outcome",
            "A bonus cannot take a row's point where scoring.outcome counts two and three rows as a whole.",
        )


def _naturals(profile: Profile) -> _Findings:
    naturals = profile.naturals
    if not naturals.kinds:
        for path, value, plain in (
            ("order.naturals_first", profile.order.naturals_first, False),
            ("naturals.keeps_bonus", naturals.keeps_bonus, False),
            ("naturals.pays_bonus", naturals.pays_bonus, False),
            ("naturals.false_declaration", naturals.false_declaration, "regular"),
            ("naturals.wins", naturals.wins, "higher"),
            ("surrender.versus_natural", profile.surrender.versus_natural, "points"),
        ):
            if value != plain:
                yield _contradiction(
                    path,
                    "%(option)s speaks of naturals, and naturals.kinds names none. Write %(plain)s; what the file "
                    "does not name comes from the game that it extends.",
                    option=path,
                    plain=f"{path.partition('.')[2]} = {text_toml(plain) if isinstance(plain, str) else 'false'}",
                )
    for sentence in list_troubles(naturals.kinds, naturals.by):
        yield Contradiction("naturals.kinds", sentence)
    if naturals.wins != "higher" and naturals.declared == "automatic":
        yield _contradiction(
            "naturals.wins",
            "The natural declared first cannot collect where none need be declared (naturals.declared).",
        )
    if profile.surrender.versus_natural != "points" and not profile.surrender.points:
        yield _contradiction(
            "surrender.versus_natural",
            "A surrender cannot pay a natural where none is offered (surrender.points = 0).",
        )
    if naturals.excused_by_surrender:
        if naturals.false_declaration == "regular":
            yield _contradiction(
                "naturals.excused_by_surrender",
                "A surrender has nothing to excuse where a false declaration plays as it is set.",
            )
        if not profile.surrender.points:
            yield _contradiction(
                "naturals.excused_by_surrender",
                "A surrender cannot excuse anything where none is offered (surrender.points = 0).",
            )
    if profile.order.several_naturals != "pairs" and not profile.order.naturals_first:
        yield _contradiction(
            "order.several_naturals",
            "The rules say which natural collects first, but by order.naturals_first none collects before the others.",
        )


def _between_hands(profile: Profile) -> _Findings:
    fantasyland, collection = profile.fantasyland, profile.collection
    if fantasyland.stay and not fantasyland.entry:
        yield _contradiction("fantasyland.entry", "Fantasy Land can be kept, and no hand earns it.")
    if fantasyland.entry and profile.deal.kind == "closed":
        yield _contradiction(
            "fantasyland.entry",
            "Fantasy Land is 13 cards at once, which everybody is dealt where deal.kind is closed.",
        )
    if collection.schedule and not collection.down_minutes:
        yield _contradiction(
            "collection.down_minutes", "A collection is taken by the down, and a down has no minutes."
        )
    if collection.half_from_minute > collection.down_minutes:
        yield _contradiction(
            "collection.half_from_minute",
            "Half the fee is due from minute %(minute)s of a down of %(minutes)s minutes.",
            minute=collection.half_from_minute,
            minutes=collection.down_minutes,
        )


def _weaker_pays_more(profile: Profile) -> _Findings:
    """Yield the options that give more points for a weaker hand or result, but are not in `weaker_pays_more`; and the
    options in that list that do not.
    """
    found = {
        path: next(((one, other) for one, other in pairwise(ranked) if one.points > other.points), None)
        for path, ranked in _ranked(profile).items()
    }
    all_of_them = ", ".join(f'"{path}"' for path, more in found.items() if more)
    for path, more in found.items():
        if more and path not in profile.weaker_pays_more:
            weaker, stronger = more
            words: dict[str, object] = {
                "weaker": weaker.words,
                "more": weaker.points,
                "stronger": stronger.words,
                "points": stronger.points,
                "option": all_of_them,
            }
            if path == "naturals.kinds":
                yield _contradiction(
                    path,
                    "%(weaker)s: %(more)s points, more than %(stronger)s, which stands higher in the list: %(points)s. "
                    "List the kinds from the highest to the lowest. If these rules really rank them so, the file "
                    "states it under [profile]: weaker_pays_more = [%(option)s].",
                    **words,
                )
            else:
                yield _contradiction(
                    path,
                    "%(weaker)s: %(more)s points, more than %(stronger)s, which is stronger: %(points)s. If these "
                    "rules really say so, the file states it under [profile]: weaker_pays_more = [%(option)s].",
                    **words,
                )
        if not more and path in profile.weaker_pays_more:
            yield _contradiction(
                "profile.weaker_pays_more",
                "%(option)s is said to give a weaker hand more points, and it does not.",
                option=path,
            )


class _Award(NamedTuple):
    words: Message
    points: int


def _ranked(profile: Profile) -> dict[str, list[_Award]]:
    """Return what each option of `profile.RANKED` gives points for, from weak to strong, with the points."""
    outcome = dict(profile.scoring.outcome)
    words = {"two": Message("two rows won"), "three": Message("all three rows won")}
    return {
        **{
            f"bonus.{row}": _row_awards(
                getattr(profile.bonus, row),
                front=row == "front",
                second_highest=profile.hands.wheel == "second_highest",
                low=LOWS.get(profile.hands.middle) if row == "middle" else None,
            )
            for row in ROW_NAMES
        },
        "naturals.kinds": [_Award(entry.words, entry.value) for entry in reversed(profile.naturals.kinds)],
        "scoring.outcome": [_Award(words[rows], outcome[rows]) for rows in words if rows in outcome],
    }


def _row_awards(pairs: Pairs, *, front: bool, second_highest: bool, low: Category | None) -> list[_Award]:
    """Return every hand of a row, from weak to strong, with its bonus in the table `pairs`: 0 for one not in it.

    `low`: the kind of low that wins the row, if the lowest hand does.
    """
    points = {Target.parse(hand, front=front): value for hand, value in pairs}
    if low is not None:
        any_rank = Target(low, None)
        found = [_Award(hand.words, points.get(hand, points.get(any_rank, 0))) for hand in Target.ranked(low)]
        best = Target(low, BEST)
        return [*found, _Award(best.words, points[best])] if best in points else found
    categories = [Category.ONE_PAIR, Category.THREE_OF_A_KIND] if front else filter(None, HIGHS.values())
    by_rank = {target.category for target in points if target.rank is not None}
    royal, straight_flush = Target(Category.ROYAL_FLUSH, None), Target(Category.STRAIGHT_FLUSH, None)
    found = []
    for category in categories:
        any_rank = Target(category, None)
        # a table without royal flushes pays them as straight flushes
        if any_rank == royal and royal not in points:
            if straight_flush.category in by_rank:
                found.append(_Award(royal.words, points.get(straight_flush, 0)))
            continue
        ranked = front or category in by_rank
        hands = Target.ranked(category, second_highest=second_highest) if ranked else (any_rank,)
        found += [_Award(hand.words, points.get(hand, points.get(any_rank, 0))) for hand in hands]
    return found
