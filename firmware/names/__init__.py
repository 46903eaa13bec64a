"""Names of people, players, tables and decks: what is accepted, and which names look alike. Pure."""

from firmware.names.names import (
    LONGEST,
    NameRefused,
    check_name,
    is_blank,
    look_alike,
    looks_like,
    new_name,
    normal_spelling,
)

__all__ = [
    "LONGEST",
    "NameRefused",
    "check_name",
    "is_blank",
    "look_alike",
    "looks_like",
    "new_name",
    "normal_spelling",
]
