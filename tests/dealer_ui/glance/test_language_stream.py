"""The stream in several languages: each screen hears its own, and each is rendered once."""

from __future__ import annotations

from collections import Counter

import pytest
from flask import Flask

from dealer_ui.text.i18n import language
from dealer_ui.view import render
from dealer_ui.view.live import Snapshot
from dealer_ui.web.services import services
from tests.dealer_ui.felt import Felt
from tests.dealer_ui.view.test_live import Client


def test_every_screen_hears_its_own_language(felt: Felt, app: Flask) -> None:
    felt.do("set_house", reason="The floor asked", language="es")
    felt.deal()
    services(app).live.start()
    titles = {}
    for asked in ("", "?language=zh_Hant", "?language=en", "?language=tlh"):
        stream = Client(app, f"/events{asked}")
        view = stream.next_view()
        titles[asked] = (view["language"], view["title"])
        stream.close()
    services(app).live.stop()
    assert titles == {
        "": ("es", "Reparto · Feltwatch"),
        "?language=zh_Hant": ("zh-Hant", "發牌中 · Feltwatch"),
        "?language=en": ("en", "Dealing · Feltwatch"),
        "?language=tlh": ("es", "Reparto · Feltwatch"),
    }


def test_the_whole_view_comes_again_once_the_table_speaks_another_language(felt: Felt, app: Flask) -> None:
    services(app).live.start()
    stream = Client(app)
    assert stream.next_view()["language"] == "en"
    felt.do("set_house", reason="The floor asked", language="zh_Hans")
    view = stream.next_view()
    stream.close()
    services(app).live.stop()
    assert view["language"] == "zh-Hans"
    assert {"bar", "centre", "strip", "more", "place-A"} <= set(view["parts"]), "not only what changed"


def test_a_moment_is_rendered_once_for_each_language(
    felt: Felt, app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    rendered: Counter[str] = Counter()
    parts = render.parts

    def counted(moment: Snapshot) -> dict[str, str]:
        rendered[language()] += 1
        return parts(moment)

    monkeypatch.setattr(render, "parts", counted)
    felt.deal()
    moment = services(app).live.now()
    for spoken in ("en", "es", "en", "es", "en"):
        services(app).messages.text(moment, None, spoken)
    assert rendered == {"en": 1, "es": 1}
