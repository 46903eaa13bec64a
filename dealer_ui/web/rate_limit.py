"""A rate limit on requests: for each address, for its IPv6 network, and for all addresses together."""

import ipaddress
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

NETWORK: Final = 4
"""All addresses of one IPv6 network (/64) together get this many times the limit of one address.

One machine can use any number of addresses in its network. Without this limit it could use up the limit of all.
"""
MAX_KNOWN_ADDRESSES: Final = 64
"""How many addresses from which people logged in are remembered. Attempts from other addresses do not delay them."""
MAX_ADDRESSES: Final = 4096
"""How many addresses are counted individually. The least recent are dropped, but still count in the total."""


class Bucket:
    """A token bucket: it allows a burst, then a constant rate per second."""

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
    """A rate limit: for each address, for its IPv6 network, and for all addresses together."""

    def __init__(
        self, each: tuple[int, float], of_all: tuple[int, float], clock: Callable[[], float] = time.monotonic
    ) -> None:
        """`each`: the limit of one address. `of_all`: that of all together. Both: a burst, and a rate per second."""
        self._each, self._clock = each, clock
        self._all = Bucket(*of_all)
        self._of: OrderedDict[str, Bucket] = OrderedDict()
        self._known: OrderedDict[str, Bucket] = OrderedDict()
        self._lock = threading.Lock()

    def wait_s(self, address: str) -> float:
        """Count one request and return 0. Beyond a limit, do not count it, and return the seconds to wait."""
        with self._lock:
            now = self._clock()
            buckets = self._buckets(address)
            if wait := max(bucket.wait_s(now) for bucket in buckets):
                return wait
            for bucket in buckets:
                bucket.take()
            return 0.0

    def know(self, address: str) -> None:
        """From now on, apply only its own limit to an address, because an authorized person uses it."""
        with self._lock:
            self._known.setdefault(address, self._bucket(address, 1))
            self._known.move_to_end(address)
            if len(self._known) > MAX_KNOWN_ADDRESSES:
                self._known.popitem(last=False)

    def _buckets(self, address: str) -> list[Bucket]:
        """Return the buckets that a request from an address takes a token from."""
        if known := self._known.get(address):
            return [known]
        buckets = [self._all, self._bucket(address, 1)]
        if (network := network_of(address)) != address:
            buckets.append(self._bucket(network, NETWORK))
        return buckets

    def _bucket(self, name: str, times: int) -> Bucket:
        """Return the bucket of an address or a network. A new one has `times` the limit of one address."""
        burst, per_s = self._each
        bucket = self._of.setdefault(name, Bucket(times * burst, times * per_s))
        self._of.move_to_end(name)
        if len(self._of) > MAX_ADDRESSES:
            self._of.popitem(last=False)
        return bucket


def canonical_address(address: str) -> str:
    """Return the canonical form of an address, under which its requests are counted; "" if it is not an IP address.

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
