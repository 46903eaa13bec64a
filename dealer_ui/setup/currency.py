"""The page for a house's format of sums: the currency's symbol, and its position."""

from typing import Any, Final

from flask import Blueprint

from dealer_ui.setup.routes import REASON, need_somebody
from dealer_ui.text.i18n import gettext as _
from dealer_ui.web import guard
from dealer_ui.web.pages import page
from dealer_ui.web.services import services
from firmware.rules import DOLLARS, Currency

blueprint = Blueprint("set_up_currency", __name__)

COMMON: Final = (
    DOLLARS,
    Currency("€", after=True),
    Currency("£"),
    Currency("¥"),
    Currency("HK$"),
    Currency("MOP$"),
    Currency("NT$"),
    Currency("S$"),
    Currency("元", after=True),
    Currency("CHF"),
    Currency("kr", after=True),
    Currency("zł", after=True),
)
"""What is one touch away, each as it is mostly written; the page's and the PDFs' own fonts have their letters."""
EXAMPLE: Final = 125_000


@blueprint.get("/set-up/game/currency")
@guard.open_to(guard.EVERYBODY)
def currencies() -> str:
    """Offer common currencies, both positions, and a custom symbol."""
    state = services().live.state()
    need_somebody(state)
    now = state.house.currency
    return page(
        "first_run/currency.html",
        _("Currency"),
        common=[_offer(one) for one in COMMON],
        places=[_offer(Currency(now.symbol, after)) for after in (False, True)],
        now=_offer(now),
        own={"do": "set_house", "reason": REASON},
        state=state,
    )


def _offer(currency: Currency) -> tuple[str, dict[str, Any]]:
    """Return an example sum in this format, and the command that selects it."""
    command = {"do": "set_house", "reason": REASON, "symbol": currency.symbol, "symbol_after": currency.after}
    return currency.say(EXAMPLE), command
