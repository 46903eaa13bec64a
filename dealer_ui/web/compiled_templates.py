"""Templates are kept compiled where Python keeps compiled modules: a page's first answer needs a tenth of the work."""

import os
import pickle
import sys
import threading
from contextlib import suppress
from importlib.util import cache_from_source
from pathlib import Path
from typing import Final

from jinja2.bccache import Bucket, BytecodeCache

_PACKAGES: Final = Path(__file__).parents[2]
_FILTERS: Final = Path(__file__).with_name("bare_app.py").read_text(encoding="utf-8")
"""How filters are added: a compiled template calls them so."""


class CompiledTemplates(BytecodeCache):
    """The installation keeps them (`dealer_ui.server.compile_templates`); the page's user may only read them.

    Whoever may not write there compiles for themselves what is missing.
    """

    def __init__(self) -> None:
        self._folder = Path(cache_from_source(str(_PACKAGES / "dealer_ui/templates/all.py"))).parent

    def get_cache_key(self, name: str, filename: str | None = None) -> str:
        """Return a key that holds by whatever link the packages are reached."""
        return super().get_cache_key(name, filename and os.path.relpath(filename, _PACKAGES))

    def get_source_checksum(self, source: str) -> str:
        """Return what tells whether a kept template is of this source, and calls filters as they are now."""
        return super().get_source_checksum(source + _FILTERS)

    def load_bytecode(self, bucket: Bucket) -> None:
        """Take what is kept of the same source, unless it was cut off."""
        try:
            with self._file(bucket).open("rb") as file:
                bucket.load_bytecode(file)
        except (EOFError, OSError, pickle.UnpicklingError):
            bucket.reset()

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep it, where Python would keep a module."""
        if sys.dont_write_bytecode:
            return
        file = self._file(bucket)
        part = file.with_suffix(f".{threading.get_native_id()}")  # nobody reads half of one
        with suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            part.write_bytes(bucket.bytecode_to_string())
            part.replace(file)

    def _file(self, bucket: Bucket) -> Path:
        return self._folder / f"{bucket.key}.template"
