"""`feltwatch photo-page`, as somebody starts it: served, keyed, read in a process of its own, ended."""

from __future__ import annotations

import signal
import subprocess
import sys
import urllib.error
import urllib.request
from http.cookiejar import CookieJar
from pathlib import Path
from urllib.parse import urlencode

import pytest

from dealer_ui.photo.codes import running
from tests.dealer_ui.photo_phone import example
from tests.processes import free_port
from tests.waiting import until


@pytest.mark.slow
def test_the_page_is_served_reads_a_photograph_apart_and_ends(tmp_path: Path) -> None:
    secret, port = tmp_path / "secret", free_port()
    command = [
        sys.executable,
        "-m",
        "firmware.cli",
        "photo-page",
        f"--port={port}",
        f"--secret={secret}",
    ]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr is not None
            said = server.stderr.readline()
            codes = running(secret)
            assert codes is not None
            assert f"http://127.0.0.1:{port}/" in said
            assert codes.shown().parted in said
            browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
            here = f"http://127.0.0.1:{port}"

            def answers() -> bool:
                try:
                    return bool(browser.open(f"{here}/log-in").status == 200)
                except urllib.error.URLError:
                    return False

            until(answers)
            browser.open(f"{here}/log-in", urlencode({"code": codes.shown().code}).encode())
            bad = urllib.request.Request(f"{here}/picture", b"GIF89a" + bytes(400))
            with pytest.raises(urllib.error.HTTPError, match="400"):
                browser.open(bad)
            browser.open(urllib.request.Request(f"{here}/picture", example()))
            page = browser.open(urllib.request.Request(f"{here}/", headers={"Accept": "text/html"}))
            assert "seat 1 pays seat 2" in page.read().decode()
        finally:
            server.send_signal(signal.SIGTERM)
        assert server.wait() == 0
