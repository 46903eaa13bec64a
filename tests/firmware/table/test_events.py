from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from firmware.table import UnknownEvent
from firmware.table.events import BY_TYPE, Event, HandOpened, HandReopened, parse, payload

json_values: st.SearchStrategy[JsonValue] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
json_dicts = st.dictionaries(st.text(max_size=6), json_values, max_size=3)
finite = st.floats(allow_nan=False, allow_infinity=False)
st.register_type_strategy(float, finite)


def events() -> st.SearchStrategy[Event]:
    """Any event, every field filled."""
    return st.one_of([_event(kind) for kind in BY_TYPE.values()])


def _event(kind: type[Event]) -> st.SearchStrategy[Event]:
    open_ended: dict[str, st.SearchStrategy[Any]] = {
        f.name: json_dicts for f in dataclasses.fields(kind) if "JsonValue" in str(f.type)
    }
    if kind is HandReopened:
        open_ended["opened"] = _event(HandOpened)
    return st.builds(kind, **open_ended)


@given(events())
def test_an_event_is_the_same_after_a_trip_through_its_json(event: Event) -> None:
    text = payload(event)
    again = parse(event.type, text)
    assert again == event
    assert payload(again) == text


@given(events())
def test_the_json_is_canonical(event: Event) -> None:
    text = payload(event)
    assert text == json.dumps(json.loads(text), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


@given(events())
def test_the_json_holds_every_field_and_nothing_else(event: Event) -> None:
    fields = json.loads(json.dumps(dataclasses.asdict(event), default=vars))
    assert json.loads(payload(event)) == fields


def test_every_event_has_its_own_type_name() -> None:
    assert all(kind.type == name for name, kind in BY_TYPE.items())
    product = {kind for kind in Event.__subclasses__() if kind.__module__.startswith("firmware.")}
    assert product == set(BY_TYPE.values())


def test_a_field_of_a_later_release_is_ignored_and_one_of_an_earlier_takes_its_default() -> None:
    text = '{"hand":7,"profile":"p","profile_hash":"h","unit":5,"seats":[],"of_tomorrow":true}'
    event = parse("hand_opened", text)
    assert event == HandOpened(7, "p", "h", 5, ())


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("of_tomorrow", "{}"),
        ("button_keyed", "{}"),
        ("button_keyed", '{"seat":"two"}'),
        ("phase_advanced", '{"to":"nowhere"}'),
        ("hand_archived", "{"),
    ],
)
def test_what_this_release_cannot_read_is_said_and_not_guessed(name: str, text: str) -> None:
    with pytest.raises(UnknownEvent, match=name):
        parse(name, text)
