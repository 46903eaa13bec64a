"""Templates that are kept compiled: made once, never out of date, and nothing where nobody may write."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from dealer_ui.photo.app import create_app as create_photo_app
from dealer_ui.photo.codes import Codes
from dealer_ui.server.app import Settings, create_app
from dealer_ui.server.compile_templates import main as compile_templates
from dealer_ui.text.i18n import speaking


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[], dict[Path, int]]:
    """Return a function that says what is kept, and when it was written."""
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path / "kept"))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    return lambda: {path: path.stat().st_mtime_ns for path in (tmp_path / "kept").rglob("*.template")}


def first_answer(tmp_path: Path) -> str:
    client = create_app(Settings(tmp_path, tmp_path / "none.sock")).test_client()
    answer = client.get("/menu", headers={"Accept": "text/html"})
    assert answer.status_code == 200
    return answer.text.partition("</head>")[2]  # the head has a token of the application's own


def test_what_the_installation_compiled_is_read_by_a_page_that_writes_nothing(
    kept: Callable[[], dict[Path, int]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compile_templates()
    made = kept()
    assert len(made) > 50
    assert all(path.stat().st_mode & 0o044 for path in made), "the page is another user than the installation"
    monkeypatch.setattr("jinja2.Environment._generate", None)  # what would compile
    assert "<h1" in first_answer(tmp_path)
    assert kept() == made


def test_what_was_cut_off_or_is_of_another_source_is_compiled_again(
    kept: Callable[[], dict[Path, int]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = first_answer(tmp_path)
    one, other, *_ = kept()
    whole = one.read_bytes()
    for damage in (whole[:30], whole[:-200], b"", other.read_bytes()):
        one.write_bytes(damage)
        assert first_answer(tmp_path) == shown
        assert one.read_bytes() == whole
    monkeypatch.setattr("dealer_ui.web.compiled_templates._FILTERS", "filters of another release")
    assert first_answer(tmp_path) == shown
    assert one.read_bytes() != whole, "of the same source, but its filters may be called otherwise now"


def test_without_a_place_to_keep_them_a_page_is_shown_all_the_same(
    kept: Callable[[], dict[Path, int]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = first_answer(tmp_path)
    before = kept()
    (tmp_path / "file").touch()
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path / "file"))
    assert first_answer(tmp_path) == shown
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path / "more"))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert first_answer(tmp_path) == shown
    assert not (tmp_path / "more").exists()
    assert kept() == before


def test_what_is_compiled_in_one_language_is_shown_in_another(tmp_path: Path) -> None:
    apps = create_app(Settings(tmp_path, tmp_path / "none.sock")), create_photo_app(Codes(b"secret" * 8))
    shown = ('{{ "front" | row_name }}', '{{ "technician" | role_name }}', '{{ "9h" | card_name }}')
    for app in apps:
        for source in shown:
            with app.app_context(), speaking("en"):
                template = app.jinja_env.from_string(source)
                english = template.render()
            with app.app_context(), speaking("es"):
                assert template.render() != english
