"""What the people at a simulated table know of the current hand."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from firmware.simulation.live.players import SetHand
from firmware.simulation.placing import PlacedCards, Rows, true_card
from firmware.table import Question, State
from firmware.table.events import Row


@dataclass
class Hand:
    """The hands as they are set, and what was done in this hand. `turns` is counted by the driver."""

    number: int
    hands: dict[int, SetHand]
    button: int
    placing: PlacedCards | None
    turns: int = 0
    puck_moved: bool = False
    laid: bool = False
    unread: bool = False
    """The cards were laid after they had been read."""
    collected: bool = False
    """The cards were taken from the felt after the settlement."""
    compared: bool = False
    paying: bool = False
    looks: int = 0
    awaits: int = 0
    questions: set[Question] = field(default_factory=set)
    cards_asked: list[str] = field(default_factory=list)
    done_with: set[str] = field(default_factory=set)
    noticed: dict[tuple[int, Row, int, str | None], bool] = field(default_factory=dict)

    @property
    def shown(self) -> dict[int, Rows]:
        """All cards face up, by seat."""
        return {seat: set_hand.shown for seat, set_hand in self.hands.items()}

    def row(self, seat: int, row: Row) -> list[str]:
        """Return the true cards of a row, whether they are shown or not."""
        return [card.code for card in getattr(self.hands[seat].rows, row)]

    def lies(self, state: State, question: Question) -> str:
        """Return the true card at a question's position; "" if the row has none there."""
        assert question.seat is not None
        assert question.row is not None
        assert question.index is not None
        row = self.row(question.seat, question.row)
        if self.placing is not None and question.seat in self.placing.orders:
            return true_card(state, question, row)  # on record in the order in which the camera saw them
        return row[question.index] if question.index < len(row) else ""

    def note_asked(self, cards: Sequence[str]) -> None:
        """Note the cards that the dealer was asked about."""
        self.cards_asked += [card for card in cards if card not in self.cards_asked]
