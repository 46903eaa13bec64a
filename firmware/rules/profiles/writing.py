"""A profile as TOML that names every option."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firmware.rules.profiles.options import text_toml

if TYPE_CHECKING:
    from firmware.rules.profiles.profile import Profile


def profile_toml(profile: Profile) -> str:
    """Return a profile as TOML without `extends`: `recorded_profile` gives the same profile back."""
    about = {"name": profile.name, "title": profile.title, "source": profile.source}
    if profile.based_on:
        about["based_on"] = profile.based_on
    lines = ["[profile]", *(f"{key} = {text_toml(text)}" for key, text in about.items())]
    if profile.notes:
        lines += ["notes = [", *(f"    {text_toml(note)}," for note in profile.notes), "]"]
    if profile.weaker_pays_more:
        lines.append(f"weaker_pays_more = {text_toml(profile.weaker_pays_more)}")
    section = ""
    for path, kind, value in profile.options():
        table, _, name = path.partition(".")
        if table != section:
            section = table
            lines += ["", f"[{section}]"]
        lines.append(f"{name} = {kind.toml(value)}")
    for title, texts in (("clauses", profile.clauses), ("readings", profile.readings)):
        if texts:
            lines += ["", f"[{title}]", *(f"{text_toml(path)} = {text_toml(text)}" for path, text in texts)]
    return "\n".join(lines) + "\n"
