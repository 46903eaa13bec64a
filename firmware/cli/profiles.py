"""`feltwatch profiles`: lists, shows and checks rule profiles, and brings one to the table."""

import sys
import tomllib
from pathlib import Path

import click

from firmware.cli.options import ask_table, by_option, data_option
from firmware.command_options import FILE
from firmware.rules import Profile, ProfileError, load_chain, load_profile, profile_names, profile_toml
from firmware.terminal import say, say_all, say_json


def _with_base(file: str) -> tuple[Profile, ...]:
    """Return a profile followed by the one that it extends, or that it says it is a copy of."""
    chain = load_chain(file)
    known = len(chain) == 1 and chain[0].based_on in profile_names()
    return (*chain, load_profile(chain[0].based_on)) if known else chain


@click.group()
def profiles() -> None:
    """List, show and check rule profiles, and write their house-rules page."""


@profiles.command("list")
@click.option("--json", "is_json", is_flag=True, help="Print a JSON array.")
def list_profiles(is_json: bool) -> None:
    """List the packaged profiles."""
    found = [load_profile(name) for name in profile_names()]
    if is_json:
        keys = ("name", "title", "source")
        say_json([{key: getattr(profile, key) for key in keys} for profile in found])
        return
    width = max(len(profile.name) for profile in found)
    for profile in found:
        say(f"{profile.name:<{width}}  {profile.title}")


@profiles.command()
@click.argument("profile", metavar="P")
@click.option("--json", "is_json", is_flag=True, help="Print a JSON object.")
def show(profile: str, is_json: bool) -> None:
    """Show a profile as TOML that names every option: a file to copy, change and check."""
    loaded = load_profile(profile)
    text = profile_toml(loaded)
    if is_json:
        say_json(tomllib.loads(text))
    else:
        say_all(text)


@profiles.command()
@click.argument("file", metavar="FILE")
def check(file: str) -> None:
    """Check a house's own profile; if it cannot be played, say all that is wrong with it and exit with 2."""
    from firmware.rules.profiles.document import changes

    try:
        loaded, *bases = _with_base(file)
    except ProfileError as error:
        say(f"Error: {error.file or file} cannot be used.", err=True)
        for key, line, message in error.troubles:
            said = str(message)
            place = ", ".join(filter(None, (f"line {line}" if line else "", "" if key in said else key)))
            say(f"  {place}: {said}" if place else f"  {said}", err=True)
        sys.exit(2)
    say(f"{file} is sound: the profile {loaded.name}{f' extends {bases[0].name}' if bases else ''}.")
    say(f"  Its hash: {loaded.hash}")
    for change in changes(loaded, bases[0]) if bases else ():
        say(" ".join(f"  {change.path}: {change.after} It was: {change.before}".split()))


@profiles.command()
@click.argument("file", metavar="FILE")
@click.option("--reason", required=True, metavar="TEXT", help="Why, for the record.")
@by_option
@data_option
def keep(file: str, reason: str, by: str | None, data: Path) -> None:
    """Write a house's own profile down in the record of the running table: a version to put in force.

    It is checked as by `feltwatch profiles check`, and changes nothing at the table until somebody puts it in force on
    the page, under Game rules.
    """
    loaded = load_profile(file)
    answer = ask_table({"do": "keep_profile", "text": profile_toml(loaded), "reason": reason}, by, data)
    if answer is None:
        raise click.ClickException("The table process is not running. Start it, then try again.")
    say(f"{loaded.name} is written down ({loaded.hash[:10]}). Put it in force on the page: More, Game rules.")


@profiles.command()
@click.argument("profile", metavar="P")
@click.option(
    "--output", "-o", type=FILE, metavar="FILE", help="Write to a file: .md for Markdown, .pdf to print it."
)
@click.option(
    "--language", default="en", metavar="CODE", help="The page's language: en, es, zh_Hans or zh_Hant."
)
def document(profile: str, output: Path | None, language: str) -> None:
    """Write the house-rules page that a card room files with its internal controls.

    It has every rule as a sentence, in the order of play, with the paragraph of its source. It says how
    irregularities are handled, what the house has changed, and where the source can be read in another way.
    """
    loaded, *bases = _with_base(profile)
    from dealer_ui.profiles.house_rules import house_rules
    from dealer_ui.text.i18n import LANGUAGES, speaking
    from firmware.record.journal.disk import write_whole
    from firmware.rules.profiles.document import markdown

    if output is not None and output.suffix not in (".md", ".pdf"):
        raise click.UsageError(f"{output} is neither Markdown nor PDF; name a file ending in .md or .pdf")
    if language not in LANGUAGES:
        raise click.UsageError(f"there is no language {language}; allowed: {', '.join(LANGUAGES)}")
    with speaking(language):
        blocks = house_rules(loaded, bases[0] if bases else None)
        if output is None:
            say_all(markdown(blocks))
            return
        try:
            if output.suffix == ".md":
                write_whole(output, markdown(blocks).encode())
            else:
                from dealer_ui.reports.house_rules_pdf import write_pdf  # slow to load

                write_pdf(blocks, output)
        except OSError as error:
            raise click.ClickException(f"{output} cannot be written: {error.strerror}") from error
    say(f"{output} holds the house rules of {loaded.name}.")
