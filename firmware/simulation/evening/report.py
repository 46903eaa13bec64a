"""The result of a simulation as text."""

from rich import box
from rich.console import Console
from rich.table import Table

from firmware.simulation.evening.auditor import KINDS
from firmware.simulation.evening.run import SHOWN, Outcome
from firmware.terminal import escape


def show(outcome: Outcome) -> None:
    """Print the report."""
    console = Console(highlight=False)
    counts = outcome.counts
    console.print(f"{outcome.hands} hands of {outcome.profile}, seed {outcome.seed}, {outcome.rows} rows.")
    must_not = _table("What must not happen", "times")
    for kind, title in KINDS.items():
        must_not.add_row(title, str(outcome.number(kind)))
    console.print(must_not)
    hands = _table("Hands", "hands")
    for title, name in (
        ("settled", "settled"),
        ("voided", "voided"),
        ("waiting on the dealer", "waiting"),
        ("settled as dealt", "ended_as_dealt"),
        ("settled on a wrong answer of the dealer's that nobody noticed", "ended_as_dealer_said_wrongly"),
        ("shown on a card that was surely misread", "shown_surely_misread"),
        ("  of these, settled so: nobody noticed", "ended_surely_misread"),
    ):
        hands.add_row(title, str(counts.get(name, 0)))
    console.print(hands)
    if counts.get("cards"):
        console.print(f"{counts['cards_read_right']} of {counts['cards']} cards were read right.")
    per_hand = counts.get("questions", 0) / max(1, counts.get("opened", 0))
    console.print(
        f"{per_hand:.2f} questions a hand; {counts.get('restarts', 0)} restarts of the table process."
    )
    if outcome.faults:
        faults = _table("Faults", "struck", "noticed or withstood")
        for name, times in outcome.faults.items():
            faults.add_row(name, str(times["struck"]), str(times["noticed"]))
        console.print(faults)
    for problem in outcome.problems[:SHOWN]:
        console.print(escape(f"Hand {problem.hand}: {problem.what}"), style="red", markup=False)
    if len(outcome.problems) > SHOWN:
        console.print(f"… and {len(outcome.problems) - SHOWN} more.", style="red")
    console.print(f"Last row's hash: {outcome.head}")


def _table(title: str, *columns: str) -> Table:
    table = Table(box=box.SIMPLE, title=title, title_justify="left")
    table.add_column("")
    for column in columns:
        table.add_column(column, justify="right")
    return table
