"""`feltwatch sign-release`, as the maker types it: a release is signed, and a new key takes over."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from firmware.cli.main import main
from tests.firmware.update.rig import NOW, Box, pack


def test_a_box_takes_what_the_command_signed_and_follows_to_the_new_key(tmp_path: Path) -> None:
    key, root = tmp_path / "key", tmp_path / "root.json"

    def sign(*words: object) -> None:
        done = CliRunner().invoke(main, ["sign-release", *map(str, words)])
        assert done.exit_code == 0, done.output

    sign("--root-to", root, "--key-folder", key)
    box = Box(tmp_path / "box", root.read_bytes())
    first, second = tmp_path / "first", tmp_path / "second"
    sign(pack(tmp_path / "a.tar.gz", "a"), "--into", first, "--made", NOW, "--key-folder", key)
    assert box.update(first).exit_code == 0
    new = tmp_path / "new-key"
    sign("--new-key", new, "--into", second, "--key-folder", key)
    sign(pack(tmp_path / "b.tar.gz", "b"), "--into", second, "--made", NOW + 1, "--key-folder", new)
    assert box.update(second).exit_code == 0
    assert box.ran() == {"a", "b"}
