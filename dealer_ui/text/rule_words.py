"""The rules' texts in the current language: options, their values, and how the house handles irregularities.

A house's own texts are not translated. Clauses are quoted from the source documents and stay in their language.
"""

from typing import Any

from dealer_ui.text.i18n import pgettext
from dealer_ui.text.messages import say
from dealer_ui.text.words import capital
from firmware.rules.profiles.options import RULES, Kind, Text
from firmware.rules.profiles.targets import Target


def rule_text(text: str) -> str:
    """Return one of the rules' own texts: a title, a meaning, a note; a text of the house's own is left unchanged."""
    return pgettext(RULES, text) if text else ""


def option_says(kind: Kind, value: Any) -> str:
    """Describe an option's value, as the house-rules page does."""
    words = say(kind.say(value))
    return words if isinstance(kind, Text) else capital(words)


def target_words(hand: str, *, front: bool) -> str:
    """Name a hand as a bonus table does: `target_words("QQ", front=True)` is `"pair of queens"`."""
    return say(Target.parse(hand, front=front).words)
