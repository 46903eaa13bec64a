"""How a table of `hardware/` is read, how a text is made from it, and what is said where it cannot be used."""

import math
import tomllib
from pathlib import Path
from typing import Annotated, Any, Final, Self

import jinja2
from pydantic import BaseModel, ConfigDict, Field, ValidationError

_TEMPLATES: Final = jinja2.Environment(
    loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
    autoescape=False,  # Markdown and YAML, no page of the product
)
_TEMPLATES.filters |= {f"n{digits}": f"{{:.{digits}f}}".format for digits in range(3)}
_TEMPLATES.filters |= {"g": "{:g}".format, "pct": "{:.0%}".format}
_TEMPLATES.filters["deg"] = lambda radians: f"{math.degrees(radians):.0f}"

Text = Annotated[str, Field(min_length=1)]


class HardwareError(Exception):
    """The root; the message says what to do."""


class DataTableError(HardwareError, ValueError):
    """A table that contradicts itself or another one."""


class ToolMissing(HardwareError, OSError):
    """A program that draws or builds is not installed, or failed."""


class RuleBroken(HardwareError, ValueError):
    """Data that break a rule of the build."""


def toml(path: Path) -> dict[str, Any]:
    """Read a table as it is. Raises DataTableError."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataTableError(f"{path} cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DataTableError(f"{path} is no TOML file: {error}") from error


def fill(template: str, **facts: Any) -> str:
    """Return the text of a template, filled in. Its filters: `n0` to `n2` decimals, `g`, `pct` per cent, `deg`rees."""
    return _TEMPLATES.get_template(f"{template}.j2").render(facts)


class DataTable(BaseModel):
    """A part of a table: what it does not know is refused, and nothing changes afterwards."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a table of this form. Raises DataTableError."""
        try:
            return cls.model_validate(toml(path))
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"]))
            raise DataTableError(f"{path.name}: {where}: {first['msg']}") from error
