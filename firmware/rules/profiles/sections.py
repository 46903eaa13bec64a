"""Every option of a profile: its section, its type, its values in words."""

from dataclasses import MISSING, dataclass, fields
from typing import Any, Literal

from firmware.messages import Message
from firmware.rules.errors import ProfileError, Trouble
from firmware.rules.naturals.entry import NaturalEntry
from firmware.rules.naturals.kinds import By
from firmware.rules.profiles.dealt_cards import LAID, MAX_DEALT_CARDS, Count, FrontCards
from firmware.rules.profiles.natural_kinds import NaturalKinds
from firmware.rules.profiles.options import (
    METADATA,
    AtLeast,
    Bonuses,
    Kind,
    Outcomes,
    Pairs,
    Rate,
    RowPoints,
    Schedule,
    SuitOrder,
    Text,
    amount,
    choice,
    flag,
    option,
    short,
)
from firmware.rules.profiles.row_words import RowsCalled, RowWordsOfHouse
from firmware.rules.profiles.targets import EntriesNotAllowedError, NotAllowedError, quote, suggestion
from firmware.rules.strength import Wheel


@dataclass(frozen=True, kw_only=True)
class Hands:
    """What beats what."""

    wheel: Wheel = choice(
        "5-4-3-2-A",
        lowest="5-4-3-2-A is the lowest straight.",
        second_highest="5-4-3-2-A is the straight next below A-K-Q-J-10.",
        not_a_straight="5-4-3-2-A is no straight, nor is A-2-3 in a natural.",
    )
    middle: Literal["high", "deuce_to_seven", "ace_to_five"] = choice(
        "Middle row",
        high="The highest hand wins the middle, as in the other rows.",
        deuce_to_seven="The lowest hand wins the middle: aces are high, straights and flushes count. Best: 7-5-4-3-2.",
        ace_to_five="The lowest hand wins the middle: aces are low, no straights or flushes. Best: 5-4-3-2-A.",
        default="high",
    )
    rows_called: RowWordsOfHouse = option(RowsCalled("Names of the rows"), default=())


@dataclass(frozen=True, kw_only=True)
class Foul:
    """Rows set in the wrong order."""

    equal_rows: Literal["foul", "ok"] = choice(
        "Middle equal to back",
        foul="A middle row equal to the back row is a foul.",
        ok="A middle row may equal the back row.",
    )
    suit_tiebreak: tuple[str, ...] = option(
        SuitOrder(
            "Suits within a hand",
            "Two equal straights, flushes or straight flushes of one hand are ordered by the suit of their high "
            "card, high to low %(suits)s; the stronger one in the middle is a foul.",
            "Suits play no part.",
        )
    )
    low_middle: Literal["any", "T", "9", "8"] = choice(
        "Lowball middle",
        any="Any middle may be set.",
        T="A middle that is not ten low or better is a foul.",
        **{
            "9": "A middle that is not nine low or better is a foul.",
            "8": "A middle that is not eight low or better is a foul.",
        },
        default="any",
    )
    points: int = amount(
        "Penalty", "A foul pays %(value)s points to each opponent.", "A foul pays no penalty of its own."
    )
    pays_bonus: bool = flag(
        "Opponents' bonuses", "A foul also pays each opponent's bonuses.", "A foul pays no bonuses."
    )
    versus_natural: Literal["natural", "both"] = choice(
        "Against a natural",
        natural="Against a natural, a foul pays the natural's value.",
        both="Against a natural, a foul pays the penalty and the natural's value.",
    )


@dataclass(frozen=True, kw_only=True)
class Scoring:
    """The comparison of two regular hands."""

    row: int = amount("Row", "Each row won is %(value)s points.", "A row won is no point in itself.")
    majority: int = amount(
        "Majority", "Who wins at least two rows has %(value)s points more.", "Nothing more for two rows."
    )
    scoop: int = amount(
        "Scoop", "Who wins all three rows has %(value)s points more.", "Nothing more for all three."
    )
    versus: Literal["all", "banker"] = choice(
        "Who settles with whom",
        all="Each player settles with every other player.",
        banker="The player with the puck is the banker: everybody else settles with the banker only.",
        default="all",
    )
    ties: Literal["push", "button"] = choice(
        "Equal rows",
        push="An equal row is a push.",
        button="An equal row is won by the banker, or by a player who holds the puck; between two others it is a push.",
    )
    outcome: Pairs = option(Outcomes("By the rows won"), default=())
    rows: Pairs = option(RowPoints("Row by row"), default=())
    suits: tuple[str, ...] = option(
        SuitOrder(
            "Suits between players",
            "Equal rows of two players are decided by the suit of their leading card, high to low %(suits)s.",
            "Suits decide nothing between players.",
        ),
        default=(),
    )
    scoop_times: int = amount(
        "Scoop multiplied",
        "Who wins all three rows is paid %(value)s times what the opponent owes.",
        "Winning all three rows multiplies nothing.",
        default=0,
    )
    beat_all_times: int = amount(
        "All opponents scooped",
        "Who wins all three rows from three opponents is paid %(value)s times what each owes; a foul counts "
        "as three rows lost.",
        "Scooping every opponent multiplies nothing.",
        default=0,
    )


@dataclass(frozen=True, kw_only=True)
class Bonus:
    """Extra points for strong rows."""

    pays: Literal["each", "stronger", "replaces", "none"] = choice(
        "How bonuses pay",
        each="A hand that is no foul earns its bonuses whether or not it wins the row; both sides "
        "are netted.",
        stronger="A hand that is no foul earns its bonuses; where both hold one in the same row, only "
        "the stronger row's counts.",
        replaces="The winner of a row with a bonus hand in it earns the bonus in place of the row's point.",
        none="There are no bonuses.",
    )
    doubles_same_category: bool = flag(
        "Same category",
        "A bonus that takes the row's place counts twice when the losing row is of the same category.",
        "A bonus counts once.",
    )
    royal_doubles: bool = flag(
        "Royal flush over straight flush",
        "A royal flush that has no bonus of its own is of the straight flush's category, and doubles over one.",
        "A royal flush is a category of its own, and does not double over a straight flush.",
        default=True,
    )
    front: Pairs = option(Bonuses("Front", front=True))
    middle: Pairs = option(Bonuses("Middle"))
    back: Pairs = option(Bonuses("Back"))


@dataclass(frozen=True, kw_only=True)
class Naturals:
    """Hands that win without comparison."""

    by: By = choice(
        "Three straights, three flushes",
        cards="Three straights and three flushes count when the 13 cards can be arranged so.",
        rows="Three straights and three flushes count when the rows are set so.",
    )
    declared: Literal["required", "automatic"] = choice(
        "Declaration",
        required="A natural counts if it was declared and confirmed before rows are compared.",
        automatic="A natural counts as soon as the rows lie open, declared or not.",
        default="required",
    )
    tie: Literal["kind", "value"] = choice(
        "Natural against natural",
        kind="The higher kind collects its whole value; the same kind ties.",
        value="The higher kind collects its whole value; kinds of equal value tie.",
    )
    wins: Literal["higher", "first_of_equals", "first_declared"] = choice(
        "Which of two naturals collects",
        higher="Of two naturals the higher one collects; equal ones tie.",
        first_of_equals="Of two naturals the higher one collects; of equal ones the one declared first.",
        first_declared="Of two naturals the one declared first collects; where nobody knows which was, the higher.",
        default="higher",
    )
    foul_voids: bool = flag(
        "Wrong order",
        "A hand set in the wrong order cannot claim a natural.",
        "A natural that counts is no foul, however its rows lie.",
    )
    keeps_bonus: bool = flag(
        "A natural's own bonuses",
        "A natural also earns the bonuses of its own rows, from regular hands and from fouls.",
        "A natural earns its value and no bonuses.",
        default=False,
    )
    pays_bonus: bool = flag(
        "Opponents' bonuses against a natural",
        "A natural pays the bonuses of a regular hand.",
        "A natural pays nobody's bonuses.",
        default=False,
    )
    false_declaration: Literal["regular", "foul"] = choice(
        "Declared without holding one", regular="The hand plays as it is set.", foul="The hand is a foul."
    )
    excused_by_surrender: bool = flag(
        "After a surrender",
        "If an opponent had already surrendered, a false declaration plays as it is set.",
        "A surrender excuses no false declaration.",
    )
    order_unknown: Literal["excused", "foul"] = choice(
        "Surrender or declaration first",
        excused="Where nobody knows which came first, the surrender counts as made before.",
        foul="Where nobody knows which came first, the surrender counts as made after.",
        default="excused",
    )
    kinds: tuple[NaturalEntry, ...] = option(NaturalKinds("Kinds, highest first"))


@dataclass(frozen=True, kw_only=True)
class Surrender:
    """Folding before the showdown."""

    points: int = amount(
        "Surrender",
        "Before the showdown a player may fold for %(value)s points to each opponent who has not.",
        "Not offered.",
    )
    pays_foul: bool = flag(
        "Surrender against a foul",
        "A surrender is paid to a foul, too.",
        "A surrender is not paid to a foul: such a hand is no longer live.",
        default=True,
    )
    versus_natural: Literal["points", "value"] = choice(
        "Surrender against a natural",
        points="A surrender pays a natural what it pays a regular hand.",
        value="A surrender pays a natural that counts its value in place of the points.",
        default="points",
    )


@dataclass(frozen=True, kw_only=True)
class Order:
    """The order of settlement."""

    first: Literal["button", "left_of_button", "right_of_button", "lowest_seat"] = choice(
        "First to settle",
        button="The player with the puck.",
        left_of_button="The next player clockwise from the puck.",
        right_of_button="The next player counterclockwise from the puck.",
        lowest_seat="The player with the lowest seat number, wherever the puck is.",
    )
    direction: Literal["clockwise", "counterclockwise"] = choice(
        "Then", clockwise="Clockwise around the table.", counterclockwise="Counterclockwise around the table."
    )
    naturals_first: bool = flag(
        "Naturals", "Pairs with a natural are paid before all others.", "Naturals are paid in their turn."
    )
    several_naturals: Literal["pairs", "turns", "highest"] = choice(
        "Several naturals that are paid first",
        pairs="Their pairs are paid in the order of positions.",
        turns="In the order of positions, each natural collects from everybody before the next one.",
        highest="The highest natural collects from everybody first, then the next one.",
        default="pairs",
    )
    opening: Literal["left_of_dealer", "house"] = choice(
        "When a game opens",
        left_of_dealer="The puck goes to the player at the left of the house dealer.",
        house="The house says who has the puck.",
    )


@dataclass(frozen=True, kw_only=True)
class Stakes:
    """A player's maximum win and loss in a hand."""

    cap: Literal["net", "gross", "none"] = choice(
        "Table stakes",
        net="Within a hand nobody's net falls below minus the stack or rises above it.",
        gross="Within a hand nobody pays out more than the stack, nor collects more.",
        none="What is owed is paid, whatever lies on the table.",
    )


@dataclass(frozen=True, kw_only=True)
class Limits:
    """A room's limits between hands; `settle` does not use them."""

    max_unit: int = amount("Highest unit", "At most %(value)s a point.", "No limit of its own.", money=True)
    buy_in: int = amount("Buy-in", "At least %(value)s units.", "No least amount.")
    min_points: int = amount(
        "To be dealt in", "At least %(value)s points' worth of chips.", "Any stack, however small."
    )
    max_stack: int = amount(
        "Re-buy and add-on", "Between hands, up to a stack of %(value)s units.", "The house names the most."
    )
    players: int = option(
        Count("Players of a hand", "At most %(value)s players are dealt in.", "", least=2, most=4), default=4
    )


@dataclass(frozen=True, kw_only=True)
class Deal:
    """How the cards are dealt."""

    kind: Literal["closed", "face_up", "pineapple"] = choice(
        "Deal",
        closed="13 cards face down, set, then revealed.",
        face_up="5 cards, then 8 times 1, placed face up; a placed card is set.",
        pineapple="5 cards, then 4 times 3, of which 2 are placed face up and 1 is discarded; a placed card is set.",
    )

    @property
    def is_face_up(self) -> bool:
        """Whether cards are placed face up, street by street."""
        return self.kind != "closed"

    @property
    def street_cards(self) -> int:
        """The cards that are placed at each street after the first."""
        return 2 if self.kind == "pineapple" else 1


@dataclass(frozen=True, kw_only=True)
class FantasyLand:
    """All 13 cards at once on the next hand."""

    entry: tuple[tuple[str, str], ...] = option(AtLeast("Earned without a foul by"))
    stay: tuple[tuple[str, str], ...] = option(AtLeast("Kept without a foul by"))
    two_hands: Literal["player", "hand"] = choice(
        "A player with two hands",
        player="Both hands of the player are Fantasy Land hands next.",
        hand="Only the hand that earned it is a Fantasy Land hand next.",
        default="player",
    )
    cards: int = option(
        Count("Cards in Fantasy Land", "%(value)s cards are dealt.", "", least=LAID, most=MAX_DEALT_CARDS),
        default=LAID,
    )
    cards_by_front: Pairs = option(FrontCards("Cards by the front that earned it"), default=())
    stay_cards: int = option(
        Count(
            "Cards for who stays",
            "Who stays is dealt %(value)s cards.",
            "Who stays is dealt as many as before.",
            least=LAID,
            most=MAX_DEALT_CARDS,
        ),
        default=0,
    )


@dataclass(frozen=True, kw_only=True)
class Collection:
    """The house's fee by the down."""

    down_minutes: int = amount("A down", "%(value)s minutes.", "There are no downs.")
    half_from_minute: int = amount(
        "Half the fee", "Who joins at minute %(value)s or later pays half.", "Everybody pays all of it."
    )
    schedule: tuple[Rate, ...] = option(Schedule("Schedule options"))


@dataclass(frozen=True, kw_only=True)
class Irregularities:
    """How the room handles irregularities."""

    misdeal: str = option(Text("Misdeal"))
    exposed_card: str = option(Text("Exposed card"))
    wrong_number_of_cards: str = option(Text("Wrong number of cards"))
    card_twice: str = option(Text("A card seen twice"))
    unread_card: str = option(Text("A card that cannot be read"))
    card_moved: str = option(Text("A set card that moves"))
    button: str = option(Text("The puck"))
    other: str = option(Text("Anything else"))


SECTIONS: dict[str, type] = {
    "hands": Hands,
    "foul": Foul,
    "scoring": Scoring,
    "bonus": Bonus,
    "naturals": Naturals,
    "surrender": Surrender,
    "order": Order,
    "stakes": Stakes,
    "limits": Limits,
    "deal": Deal,
    "fantasyland": FantasyLand,
    "collection": Collection,
    "irregularities": Irregularities,
}
"""The sections of a profile in file order."""

OPTIONS: dict[str, tuple[str, str, Kind]] = {
    f"{section}.{item.name}": (section, item.name, item.metadata[METADATA])
    for section, kind in SECTIONS.items()
    for item in fields(kind)
}
"""Every option by its path: its section, its name, its kind."""

FORMER_READINGS: dict[str, Any] = {
    f"{section}.{item.name}": item.default
    for section, kind in SECTIONS.items()
    for item in fields(kind)
    if item.default is not MISSING
}
"""Options that may be missing in profiles of earlier releases, each with the behaviour of those releases."""


def _find_option(path: str) -> tuple[str, str, Kind]:
    try:
        return OPTIONS[path]
    except KeyError:
        said = without_jokers(path) or Message(
            "%(option)s is no option%(hint)s", option=short(path), hint=suggestion(path, OPTIONS)
        )
        raise ProfileError(said, key=short(path)) from None


_JOKERS = ("joker", "wild")


def without_jokers(name: str) -> Message | None:
    """Return why there is no option or section of this name, if it would be one about jokers."""
    if not any(word in name.lower() for word in _JOKERS):
        return None
    return Message("%(option)s: these rules have no jokers and no wild cards", option=short(name))


def check_option(path: str, value: object) -> Any:
    """Return the value of an option as stored in a profile. Raises ProfileError."""
    _, _, kind = _find_option(path)
    try:
        return kind.check(value)
    except NotAllowedError as error:
        raise ProfileError.of(_refusals(path, value, error)) from None


def _refusals(path: str, value: Any, error: NotAllowedError) -> list[Trouble]:
    """Return all that is not allowed of a value; of a list's entries, each under its own key."""
    wrong = {path: (value, error)}
    if isinstance(error, EntriesNotAllowedError):
        wrong = {f"{path}.{place}": (value[place], one) for place, one in error.entries.items()}
    return [
        Trouble(
            key,
            0,
            Message("%(option)s = %(value)s will not do: %(why)s", option=path, value=quote(given), why=why),
        )
        for key, (given, why) in wrong.items()
    ]
