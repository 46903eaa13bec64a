"""Faults of the line between tables and nginx."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Final

from tests.campaigns.pit.fault_kind import Fault, Kind
from tests.campaigns.pit.fault_stage import Stage, stage
from tests.pit import tcp_proxy
from tests.pit.house import House
from tests.pit.tcp_proxy import ByteProxy, Exchange, RequestProxy, Way


@contextmanager
def _through_bytes() -> Iterator[Stage]:
    proxies: list[ByteProxy] = []

    def prepare(made: House, stack: ExitStack) -> None:
        proxies.append(proxy := ByteProxy(made.address))
        proxy.start()
        stack.callback(proxy.close)
        made.address = proxy.address

    with stage(prepare=prepare) as made:
        made.line = proxies[0]
        yield made


@contextmanager
def _through_requests() -> Iterator[Stage]:
    proxies: list[RequestProxy] = []

    def prepare(made: House, stack: ExitStack) -> None:
        proxies.append(proxy := RequestProxy(made.address, made.authority, made.folder))
        stack.callback(proxy.close)
        made.address = proxy.address
        proxy.start()

    with stage(prepare=prepare) as made:
        made.line = proxies[0]
        yield made


def _bytes(make: Callable[[random.Random], Way]) -> Fault:
    @contextmanager
    def fault(made: Stage, rng: random.Random) -> Iterator[None]:
        line = made.line
        assert isinstance(line, ByteProxy)
        line.way = make(rng)
        try:
            yield
        finally:
            line.way = tcp_proxy.straight

    return fault


@contextmanager
def _hang(made: Stage, rng: random.Random) -> Iterator[None]:
    """The line hangs; then it goes on with what it held, or that is lost and the connections stay open."""
    line, over = made.line, threading.Event()
    assert isinstance(line, ByteProxy)
    line.way = tcp_proxy.hanging(over, is_lost=rng.random() < 0.3)
    try:
        yield
    finally:
        over.set()
        line.way = tcp_proxy.straight


def _requests(make: Callable[[random.Random], Exchange]) -> Fault:
    @contextmanager
    def fault(made: Stage, rng: random.Random) -> Iterator[None]:
        line = made.line
        assert isinstance(line, RequestProxy)
        line.exchange = make(rng)
        try:
            yield
        finally:
            line.exchange = tcp_proxy.honest

    return fault


KINDS: Final = (
    Kind("delays", "each piece comes up to 1.5 s late", _bytes(tcp_proxy.delaying), _through_bytes),
    Kind("cuts", "reset in the middle of any piece", _bytes(tcp_proxy.cutting), _through_bytes),
    Kind("half_closes", "one direction ends in the middle", _bytes(tcp_proxy.half_closing), _through_bytes),
    Kind("hangs", "nothing comes through; then it goes on, or is lost", _hang, _through_bytes),
    Kind("trickles", "64 bytes at a time, TLS and all", _bytes(tcp_proxy.trickling), _through_bytes),
    Kind("repeats", "each request two or three times", _requests(tcp_proxy.repeating), _through_requests),
    Kind(
        "repeats_older",
        "older requests before and after each",
        _requests(tcp_proxy.repeating_older),
        _through_requests,
    ),
    Kind(
        "lost_answers",
        "cut after the request, before the answer",
        _requests(tcp_proxy.losing_answers),
        _through_requests,
    ),
)
