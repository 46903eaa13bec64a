"""The tests of one working tree, run with faults in its code and without."""

from __future__ import annotations

import os
import re
import resource
import shlex
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Final

import pytest

from tests.campaigns.mutation.fault import Fault

_FAILED: Final = re.compile(r"^(?:FAILED|ERROR) (tests/.+?)(?: - .*)?$", re.MULTILINE)
_WORD: Final = re.compile(r"[a-z]+")
_EVER_LATER: Final = count(1)


class NoTest(Exception):
    """There is no test of this name."""


@dataclass
class Suite:
    """The tests of a working tree. `options` is what its `make test` gives pytest besides its configuration."""

    root: Path
    options: str = ""
    _seconds: float = field(default=0.0, init=False)

    def run(self, tests: Iterable[str], *more: str) -> list[str]:
        """Run tests, in this order, and return those that failed; a file that could not be collected is one.

        Raises:
            NoTest: One of them is not there.
        """
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        python = str(self.root / ".venv/bin/python")
        command = [python, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:randomly", "--tb=no", "-rfE"]
        done = subprocess.run(
            [*command, *shlex.split(self.options), *more, *tests],
            cwd=self.root,
            env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self._seconds += after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        failed = list(dict.fromkeys(_FAILED.findall(done.stdout)))
        if done.returncode == pytest.ExitCode.USAGE_ERROR and "not found:" in done.stdout:
            raise NoTest(done.stdout[-200:])
        if done.returncode not in (0, 5) and not failed:
            raise RuntimeError(f"pytest ended with {done.returncode}:\n{done.stdout[-2000:]}")
        return failed

    def seconds(self) -> float:
        """The processor time of the runs since this was asked last."""
        seconds, self._seconds = self._seconds, 0.0
        return seconds

    @contextmanager
    def with_faults(self, faults: Iterable[Fault]) -> Iterator[None]:
        """The tree with these faults; as it was, at the end.

        Raises:
            NoPlace: This version of the code has no such place.
        """
        files = {file: (self.root / file).read_text(encoding="utf-8") for file in {f.file for f in faults}}
        changed = dict(files)
        for fault in faults:
            changed[fault.file] = fault.put_into(changed[fault.file])
        try:
            for file, source in changed.items():
                self._write(file, source)
            yield
        finally:
            for file, source in files.items():
                self._write(file, source)

    def _write(self, file: str, source: str) -> None:
        path = self.root / file
        later = path.stat().st_mtime + next(_EVER_LATER) if path.exists() else None
        path.write_text(source, encoding="utf-8")
        if later is not None:
            # Python takes compiled code for current by the whole second and the size
            os.utime(path, (later, later))

    def test_files(self) -> list[str]:
        """Every test file but those of the browser, which are `browser_files`."""
        return [file for file in self._files() if not file.startswith("tests/browser/")]

    def browser_files(self) -> list[str]:
        return [file for file in self._files() if file.startswith("tests/browser/")]

    def _files(self) -> list[str]:
        return sorted(str(path.relative_to(self.root)) for path in (self.root / "tests").rglob("test_*.py"))

    def near(self, fault: Fault) -> list[str]:
        """The files with the likeliest finders, the likeliest first: those of the folder that mirrors the fault's, and
        those of other folders that import its module.
        """
        path = Path(fault.file)
        module = ".".join([*path.parent.parts, path.stem])
        folder = f"tests/{path.parent}/"
        ranked = [(-self._likeness(file, path.stem, module), file) for file in self.test_files()]
        return [file for likeness, file in sorted(ranked) if file.startswith(folder) or likeness <= -10]

    def _likeness(self, file: str, stem: str, module: str) -> int:
        text = (self.root / file).read_text(encoding="utf-8")
        package, _, name = module.rpartition(".")
        imports = module in text or bool(re.search(rf"from {package} import .*\b{name}\b", text))
        words = set(_WORD.findall(stem)) & set(_WORD.findall(Path(file).stem.removeprefix("test_")))
        return 10 * imports + 3 * len(words) + min(text.count(stem), 3)
