"""A limit on requests: for each address, for its network, and for all addresses together."""

from __future__ import annotations

import ipaddress
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

NETWORK: Final = 4
"""So many times an address's share all of one IPv6 network (/64) have together: a machine has as many addresses as it
likes, and must not take its neighbours' share with one of them."""
MOST_KNOWN: Final = 64
"""Addresses from which somebody has logged in: a person there is not delayed by the tries of other addresses."""
MOST_ADDRESSES: Final = 4096
"""Addresses whose requests are counted each by itself; one that is dropped for more still counts among all."""


class Bucket:
    """A token bucket: a burst, then a constant rate per second."""

    def __init__(self, burst: int, per_s: float) -> None:
        self._burst, self._per_s = burst, per_s
        self._left, self._at = float(burst), float("-inf")

    def wait_s(self, now: float) -> float:
        """Return the seconds until a token is available; 0 if there is one."""
        self._left = min(self._burst, self._left + (now - self._at) * self._per_s)
        self._at = now
        return max(0.0, (1 - self._left) / self._per_s)

    def take(self) -> None:
        """Take one token."""
        self._left -= 1


class Limit:
    """A rate limit: per address, and for all addresses together."""

    def __init__(
        self, each: tuple[int, float], of_all: tuple[int, float], clock: Callable[[], float] = time.monotonic
    ) -> None:
        """`each` and `of_all`: the burst, then the rate per second."""
        self._each, self._clock = each, clock
        self._all = Bucket(*of_all)
        self._of: OrderedDict[str, Bucket] = OrderedDict()
        self._known: OrderedDict[str, Bucket] = OrderedDict()
        self._lock = threading.Lock()

    def wait_s(self, address: str) -> float:
        """Count one request, and return 0; beyond the limit, return the seconds to wait."""
        with self._lock:
            now = self._clock()
            buckets = self._buckets(address)
            if wait := max(bucket.wait_s(now) for bucket in buckets):
                return wait
            for bucket in buckets:
                bucket.take()
            return 0.0

    def know(self, address: str) -> None:
        """From now on, count an address separately from its network: an authorized person uses it."""
        with self._lock:
            self._known.setdefault(address, self._bucket(address, 1))
            self._known.move_to_end(address)
            if len(self._known) > MOST_KNOWN:
                self._known.popitem(last=False)

    def _buckets(self, address: str) -> list[Bucket]:
        if known := self._known.get(address):
            return [known]
        buckets = [self._all, self._bucket(address, 1)]
        if (network := network_of(address)) != address:
            buckets.append(self._bucket(network, NETWORK))
        return buckets

    def _bucket(self, name: str, times: int) -> Bucket:
        burst, per_s = self._each
        bucket = self._of.setdefault(name, Bucket(times * burst, times * per_s))
        self._of.move_to_end(name)
        if len(self._of) > MOST_ADDRESSES:
            self._of.popitem(last=False)
        return bucket


def canonical_address(address: str) -> str:
    """Return the canonical form of an address, under which its requests are counted.

    >>> canonical_address("::ffff:192.0.2.7"), canonical_address("2001:db8::0:7:1")
    ('192.0.2.7', '2001:db8::7:1')
    """
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return ""
    if isinstance(found, ipaddress.IPv4Address):
        return str(found)
    if found.ipv4_mapped:
        return str(found.ipv4_mapped)
    return str(ipaddress.IPv6Address(int(found)))


def network_of(address: str) -> str:
    """Return the IPv6 network (/64) of an address from `canonical_address`; any other address unchanged.

    >>> network_of("2001:db8::7:1"), network_of("192.0.2.7")
    ('2001:db8::/64', '192.0.2.7')
    """
    if ":" not in address:
        return address
    return str(ipaddress.ip_network((int(ipaddress.IPv6Address(address)), 64), strict=False))
