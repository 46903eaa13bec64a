"""The currency of sums: its symbol and the symbol's position. Sums are whole hundredths of it."""

import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final

LONGEST: Final = 4
"""Maximum number of characters of a symbol."""

_NO_BREAK: Final = "\u00a0"


@dataclass(frozen=True)
class Currency:
    """A currency as a house writes it; hundredths are shown only if they are not zero.

    >>> Currency().say(125_050), Currency("HK$").say(2500)
    ('$1,250.50', 'HK$25')

    A symbol that ends in a letter, or is placed `after` the figure, is separated by a no-break space:

    >>> Currency("€", after=True).say(2500), Currency("CHF").say(2500)
    ('25\\xa0€', 'CHF\\xa025')
    """

    symbol: str = "$"
    after: bool = False

    @property
    def pattern(self) -> str:
        """The format of a sum with `{}` for its figure: "${}"."""
        if self.after:
            return f"{{}}{_NO_BREAK}{self.symbol}"
        return f"{self.symbol}{_NO_BREAK if self.symbol[-1:].isalpha() else ''}{{}}"

    def say(self, cents: int) -> str:
        """Return a sum of hundredths as text, without its sign."""
        whole, rest = divmod(abs(cents), 100)
        return self.pattern.replace("{}", f"{whole:,}.{rest:02}" if rest else f"{whole:,}")


def is_symbol(text: str) -> bool:
    """Return whether this is a valid symbol: 1 to 4 letters and currency signs, written from left to right.

    >>> [is_symbol(text) for text in ("HK$", "kr", "元", "", "$ ", "R.D.", "1$", "Dinar", "﷼")]
    [True, True, True, False, False, False, False, False, False]
    """
    return 0 < len(text) <= LONGEST and all(
        unicodedata.category(letter) in ("Lu", "Ll", "Lo", "Sc")
        and unicodedata.bidirectional(letter) in ("L", "ET")
        for letter in text
    )


DOLLARS: Final = Currency()
"""The default currency."""

_now: ContextVar[Currency] = ContextVar("currency", default=DOLLARS)


def currency() -> Currency:
    """Return the current currency: of a `paying_in` block, else dollars."""
    return _now.get()


@contextmanager
def paying_in(of_house: Currency) -> Iterator[None]:
    """Use this currency for every sum in the block."""
    token = _now.set(of_house)
    try:
        yield
    finally:
        _now.reset(token)


def money_text(cents: int) -> str:
    """Return a sum as text in the current currency: 1250 is "$12.50", 1000 is "$10".

    >>> money_text(-5)
    '-$0.05'
    """
    return f"{'-' * (cents < 0)}{currency().say(cents)}"
