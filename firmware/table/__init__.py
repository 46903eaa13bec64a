"""The table's domain model: events, the state that they add up to, and the commands that cause them."""

from firmware.table.errors import CaptureError as CaptureError
from firmware.table.errors import CommandRefused as CommandRefused
from firmware.table.errors import JournalBusy as JournalBusy
from firmware.table.errors import JournalError as JournalError
from firmware.table.errors import TableError as TableError
from firmware.table.errors import UnknownEvent as UnknownEvent
from firmware.table.events import apply as apply
from firmware.table.events import fold as fold
from firmware.table.phase import Phase as Phase
from firmware.table.state import INITIAL as INITIAL
from firmware.table.state import Ask as Ask
from firmware.table.state import Card as Card
from firmware.table.state import Question as Question
from firmware.table.state import Seat as Seat
from firmware.table.state import State as State
