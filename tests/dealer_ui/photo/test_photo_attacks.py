"""Attacks on the phones' page for photographs, from the house's network: by files, by guesses, by requests."""

from __future__ import annotations

import http.client
import json
import struct
import subprocess
import sys
import zlib
from collections.abc import Callable
from contextlib import closing, suppress
from io import BytesIO
from pathlib import Path
from urllib.parse import urlencode

import pytest
from PIL import Image

from dealer_ui.photo.app import OPEN, desk
from dealer_ui.server.app import Settings
from dealer_ui.server.app import create_app as create_table_app
from dealer_ui.web import guard
from firmware.photo.reading_process import MAX_BYTES, MAX_PIXELS, PhotoRefused, read_in_process
from tests.dealer_ui.felt import Felt
from tests.dealer_ui.photo_phone import example, laid_reading, let_in, phone, photo_app, read_here
from tests.dealer_ui.remote_house import served
from tests.waiting import DEADLINE


def png(width: int, height: int, data: bytes = b"") -> bytes:
    """Return a PNG that says that it has so many pixels."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(data)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts


def drawn(kind: str, size: tuple[int, int] = (400, 300), mode: str = "RGB", **more: object) -> bytes:
    out = BytesIO()
    Image.new(mode, size).save(out, kind, **more)
    return out.getvalue()


ATTACKS: dict[str, tuple[Callable[[], bytes], str]] = {
    "nothing": (lambda: b"", "not a picture"),
    "text": (lambda: b"<script>alert(1)</script>" * 99, "not a picture"),
    "svg": (
        lambda: b"<svg xmlns='http://www.w3.org/2000/svg'><image href='/etc/passwd'/></svg>",
        "not a picture",
    ),
    "gif": (lambda: drawn("GIF"), "not a picture"),
    "tiff": (lambda: drawn("TIFF"), "not a picture"),
    "pdf": (lambda: drawn("PDF"), "not a picture"),
    "zip": (lambda: b"PK\x03\x04" + bytes(500), "not a picture"),
    "bomb": (lambda: png(100_000, 100_000), "10000 megapixels"),
    "10,000 x 10,000": (lambda: png(10_000, 10_000, bytes(30_000) * 10_000), "100 megapixels"),
    "one pixel too many": (lambda: png(MAX_PIXELS // 1000 + 1000, 1000), "51 megapixels"),
    "cut off": (lambda: example()[:9000], "cut off"),
    "moving": (
        lambda: drawn("WEBP", save_all=True, append_images=[Image.new("RGB", (400, 300), "red")]),
        "more than one picture",
    ),
    "print": (lambda: drawn("JPEG", mode="CMYK"), "CMYK"),
    "thin": (lambda: drawn("PNG", (4000, 40)), "panorama"),
    "tiny": (lambda: drawn("PNG", (20, 20)), "20 × 20"),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_a_file_that_is_no_photograph_is_refused_in_a_sentence_and_nothing_is_kept(name: str) -> None:
    make, sentence = ATTACKS[name]
    client = let_in(photo_app())
    answer = client.post("/picture", data=make())
    assert answer.status_code == 400
    assert sentence in answer.get_json()["error"]
    assert client.get("/picture.jpg").status_code == 404


def test_a_picture_that_is_also_something_else_is_kept_as_a_picture_alone() -> None:
    polyglot = example() + b"<script>alert(1)</script>PK\x03\x04" + b"\xff\xd9"
    client = let_in(photo_app())
    assert client.post("/picture", data=polyglot).status_code == 200
    answer = client.get("/picture.jpg")
    assert b"script" in polyglot
    assert b"script" not in answer.data
    assert answer.mimetype == "image/jpeg"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_a_file_that_is_too_long_is_refused_before_it_is_read() -> None:
    read: list[bytes] = []
    client = let_in(photo_app(read.append))
    answer = client.post("/picture", data=bytes(MAX_BYTES + 1))
    assert answer.status_code == 413
    assert "16 MB" in answer.get_json()["error"]
    assert read == []
    with pytest.raises(PhotoRefused, match="16 MB"):
        read_in_process(bytes(MAX_BYTES + 1))


@pytest.mark.slow
def test_a_photograph_is_unpacked_in_a_process_below_everything_else_and_within_limits() -> None:
    looks = (
        "import os, resource, json; from firmware.photo.read_once import step_back; step_back();"
        "kinds = (resource.RLIMIT_AS, resource.RLIMIT_CPU, resource.RLIMIT_FSIZE);"
        "most = [resource.getrlimit(what)[0] for what in kinds];"
        "print(json.dumps([os.nice(0), os.sched_getscheduler(0) == os.SCHED_IDLE, most]))"
    )
    done = subprocess.run([sys.executable, "-c", looks], stdout=subprocess.PIPE, check=True)
    nice, idle, limits = json.loads(done.stdout)
    assert nice == 19
    assert idle
    assert all(0 <= most < 1 << 40 for most in limits)
    assert limits[2] == 0, "it writes no file"
    with pytest.raises(PhotoRefused, match="not a picture"):
        read_in_process(
            b"no picture", longest_s=5 * DEADLINE
        )  # a process below everything else gets what is left


def test_one_photograph_is_read_at_a_time_and_the_next_is_told_so() -> None:
    app = photo_app(lambda _data: laid_reading(2))
    first, second = let_in(app), let_in(app, "192.0.2.31")
    with desk(app).reading:
        answer = second.post("/picture", data=b"a picture")
        assert answer.status_code == 503
        assert "Another picture is being read" in answer.get_json()["error"]
    assert first.post("/picture", data=b"a picture").status_code == 200
    assert second.get("/picture.jpg").status_code == 404, "each phone has its own picture"


def test_the_phones_page_shows_nothing_without_the_code() -> None:
    app = photo_app()
    for rule in app.url_map.iter_rules():
        if rule.endpoint in OPEN:
            continue
        address = rule.rule.replace("<any(png, pdf):kind>", "png")
        for method in ("GET", "POST", "PUT", "DELETE", "HEAD"):
            answer = phone(app).open(address, method=method)
            assert answer.status_code in ({302, 401, 405}), (method, address)
    assert phone(app).get("/").location == "/log-in"


def test_a_route_of_the_phones_page_that_nobody_marked_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    app = photo_app()
    app.add_url_rule("/more", "more", lambda: "open")
    client = let_in(app)
    assert client.get("/more").status_code == 403
    monkeypatch.setattr(guard, "roles_of", lambda _view: guard.EVERYBODY)
    assert client.get("/more").status_code == 200


def test_the_code_is_not_guessed_by_one_phone_nor_by_many() -> None:
    app = photo_app()
    tried = [phone(app).post("/log-in", data={"code": f"{k:08}"}).status_code for k in range(9)]
    assert set(tried[:5]) <= {303, 403}
    assert set(tried[5:]) == {429}
    many = [
        phone(app, f"198.51.100.{k}").post("/log-in", data={"code": f"{k:08}"}).status_code for k in range(60)
    ]
    assert many.count(429) >= 40


def test_another_site_sends_no_picture_and_no_answer() -> None:
    client = let_in(photo_app(lambda _data: laid_reading(2)))
    elsewhere = {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}
    for address in ("/picture", "/answer", "/forget", "/log-out"):
        assert client.post(address, data=b"x", headers=elsewhere).status_code == 403
    assert phone(photo_app()).post("/log-in", data={"code": "1"}, headers=elsewhere).status_code == 403


def test_every_answer_of_the_phones_page_has_its_headers_and_lies_in_no_browsers_store() -> None:
    client = let_in(photo_app(read_here))
    client.post("/picture", data=example())
    for address in ("/", "/picture.jpg", "/photo.json", "/photo.png", "/none"):
        headers = client.get(address).headers
        assert headers["Cache-Control"] == "no-store"
        assert "script-src 'self'" in headers["Content-Security-Policy"]
        assert headers["X-Frame-Options"] == "DENY"


def test_through_nginx_photographs_come_in_and_nothing_that_is_longer(tmp_path: Path) -> None:
    app = photo_app(lambda _data: laid_reading(2))
    with served(app, tmp_path, photographs=True) as there:

        def ask(method: str, path: str, body: bytes, **headers: str) -> http.client.HTTPResponse:
            asked = http.client.HTTPSConnection(
                "localhost", there.port, context=there.spoken, timeout=DEADLINE
            )
            with closing(asked):
                asked.request(method, path, body, headers)
                answer = asked.getresponse()
                answer.read()
                return answer

        code = urlencode({"code": desk(app).codes.shown().code}).encode()
        let = ask("POST", "/log-in", code, **{"Content-Type": "application/x-www-form-urlencoded"})
        assert let.status == 303
        cookie = {"Cookie": str(let.getheader("Set-Cookie")).partition(";")[0]}
        assert ask("POST", "/picture", bytes(5_000_000), **cookie).status == 200
        assert ask("POST", "/picture", bytes(5_000_000)).status == 401
        with suppress(OSError):  # nginx may close the connection while the rest is still being sent
            assert ask("POST", "/answer", bytes(20_000), **cookie).status == 413
        with suppress(OSError):
            assert ask("POST", "/picture", bytes(17_500_000), **cookie).status == 413


def test_the_touchscreen_has_no_page_for_photographs_unless_the_house_opens_it(felt: Felt) -> None:
    for address, status in (("", 404), ("https://192.0.2.7:8444/", 200)):
        app = create_table_app(Settings(felt.folder, felt.folder / "table.sock", photo=address))
        client = app.test_client()
        assert client.get("/photo").status_code == status
        assert ("/photo" in client.get("/menu").text) == (status == 200)
