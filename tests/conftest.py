"""What all tests share."""

from __future__ import annotations

from typing import Any, Final

from flask import Flask
from flask.templating import Environment
from hypothesis import settings
from jinja2 import BytecodeCache
from jinja2.bccache import Bucket

# a machine that is busy with something else is no reason for a test to fail
settings.register_profile("feltwatch", deadline=None)
settings.load_profile("feltwatch")


class _Compiled(BytecodeCache):
    """Compiled templates in memory: the tests make hundreds of applications of the same templates."""

    def __init__(self) -> None:
        self._code: dict[str, bytes] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        if bucket.key in self._code:
            bucket.bytecode_from_string(self._code[bucket.key])

    def dump_bytecode(self, bucket: Bucket) -> None:
        self._code[bucket.key] = bucket.bytecode_to_string()


_COMPILED: Final = _Compiled()


class _Templates(Environment):
    def __init__(self, app: Flask, **options: Any) -> None:
        super().__init__(app, **options)
        self.bytecode_cache = _COMPILED


Flask.jinja_environment = _Templates  # type: ignore[assignment]
