"""Names of people, players, tables and decks: what is accepted, and which names look alike. Pure."""

from firmware.names.names import (
    LONGEST,
    NameRefused,
    checked,
    is_blank,
    look_alike,
    looks_like,
    new_name,
    spelled,
)

__all__ = ["LONGEST", "NameRefused", "checked", "is_blank", "look_alike", "looks_like", "new_name", "spelled"]
