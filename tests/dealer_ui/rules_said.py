"""Every text of the rules that the page shows: what `dealer_ui.text.rule_texts` has to hold."""

from __future__ import annotations

from collections.abc import Iterator

from dealer_ui.text.rule_words import places
from firmware.rules import load_profile, profile_names
from firmware.rules.profiles.document import SECTION_TITLES
from firmware.rules.profiles.options import Amount, Choice, Flag, Text
from firmware.rules.profiles.sections import OPTIONS


def texts() -> Iterator[str]:
    """Yield titles, what options mean, and the packaged profiles' own texts."""
    yield from SECTION_TITLES.values()
    for _, _, kind in OPTIONS.values():
        yield kind.title
        match kind:
            case Choice():
                yield from kind.values.values()
            case Flag():
                yield from (kind.yes, kind.no)
            case Amount():
                yield from (places(kind.some), kind.none)
            case Text():
                pass
            case _:
                yield kind.say(())
    for name in profile_names():
        profile = load_profile(name)
        yield from (value for _, kind, value in profile.options() if isinstance(kind, Text) and value)
        yield from (*profile.notes, *profile.reading.values())
