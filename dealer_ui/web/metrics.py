"""`/metrics`: counters of the table's events for Prometheus, without players' names, cards or PINs.

Counters begin at 0 when the page's process starts, as Prometheus expects; earlier events are in the record.
"""

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from firmware.health.checks import judge
from firmware.health.facts import Facts
from firmware.record.journal.journal import Entry, JournalReader
from firmware.table import events as ev
from firmware.table.errors import JournalError, UnknownEvent
from firmware.table.phase import OPEN
from firmware.table.state import State

BOUNDS_S: Final = (0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)
"""Upper bounds of the times that are counted, in seconds."""


class _Times:
    """A histogram of durations."""

    def __init__(self) -> None:
        self._counts = [0] * (len(BOUNDS_S) + 1)
        self._sum = 0.0

    def add(self, seconds: float) -> None:
        self._sum += seconds
        self._counts[sum(seconds > bound for bound in BOUNDS_S)] += 1

    def family(self, name: str, says: str) -> HistogramMetricFamily:
        total, buckets = 0, []
        for bound, count in zip([*map(str, BOUNDS_S), "+Inf"], self._counts, strict=True):
            total += count
            buckets.append((bound, total))
        return HistogramMetricFamily(name, says, buckets=buckets, sum_value=self._sum)


class Tallies:
    """Counts the events added to the record since this process's first read. Thread-safe."""

    def __init__(self, reader: JournalReader) -> None:
        self._reader = reader
        self._lock = threading.Lock()
        self._seq: int | None = None
        self._counts: Counter[str] = Counter()
        self._faults: Counter[str] = Counter()
        self._reading_s = _Times()
        self._settling_s = _Times()
        self._read_at_ns: int | None = None

    def families(self) -> Iterator[Metric]:
        """Read the new events of the record and return all counts."""
        with self._lock:
            with suppress(JournalError):  # earlier counts stay
                self._look()
            of_type = CounterMetricFamily("feltwatch_events", "Events written to the record", labels=["type"])
            for name in sorted(name for name in self._counts if ":" not in name):
                of_type.add_metric([name], self._counts[name])
            yield of_type
            cards = CounterMetricFamily("feltwatch_cards_read", "Cards that the camera read", labels=["sure"])
            for sure in ("yes", "no"):
                cards.add_metric([sure], self._counts[f"card:{sure}"])
            yield cards
            faults = CounterMetricFamily("feltwatch_device_faults", "Faults of devices", labels=["device"])
            for device in sorted(self._faults):
                faults.add_metric([device], self._faults[device])
            yield faults
            yield self._reading_s.family("feltwatch_reading_seconds", "A frame: from pixels to named cards")
            yield self._settling_s.family("feltwatch_settle_seconds", "From a reading to its settlement")

    def _look(self) -> None:
        head = self._reader.head()[0]
        if self._seq is None or head < self._seq:  # the first read, or another record
            self._seq = head
        while rows := self._reader.events_since(self._seq):
            for row in rows:
                with suppress(UnknownEvent):
                    self._take(row)
            self._seq = rows[-1].seq

    def _take(self, row: Entry) -> None:
        self._counts[row.type] += 1
        match row.event if row.type in _DECODED_TYPES else None:
            case ev.ReadingTaken() as reading:
                for zone in reading.rows:
                    for card in zone.cards:
                        self._counts["card:yes" if card.sure else "card:no"] += 1
                if reading.ms:
                    self._reading_s.add(reading.frame_ms / 1000)
                self._read_at_ns = row.monotonic_ns
            case ev.HandSettled():
                if self._read_at_ns is not None and row.monotonic_ns >= self._read_at_ns:
                    self._settling_s.add((row.monotonic_ns - self._read_at_ns) / 1e9)
                self._read_at_ns = None
            case ev.DeviceFault() as fault:
                self._faults[fault.device] += 1


_DECODED_TYPES: Final = frozenset({ev.ReadingTaken.type, ev.HandSettled.type, ev.DeviceFault.type})


class _Scrape(Collector):
    """One scrape: the counts so far, and the current state."""

    def __init__(self, tallies: Tallies, facts: Facts, state: State) -> None:
        self._tallies = tallies
        self._facts = facts
        self._state = state

    def collect(self) -> Iterator[Metric]:
        yield from self._tallies.families()
        yield GaugeMetricFamily(
            "feltwatch_table_up", "Whether the table process answers", bool(self._facts.answers)
        )
        yield GaugeMetricFamily("feltwatch_hand", "The last hand's number", self._state.hand)
        yield GaugeMetricFamily("feltwatch_hand_open", "Whether a hand is open", self._state.phase in OPEN)
        yield GaugeMetricFamily("feltwatch_questions", "Questions open now", len(self._state.questions))
        measured = {
            "feltwatch_chain_head": ("The number of the record's last row", self._facts.rows, 1),
            "feltwatch_disk_free_bytes": ("Free on the record's disk", self._facts.free_mb, 1e6),
            "feltwatch_memory_available_bytes": ("Memory available", self._facts.memory_mb, 1e6),
            "feltwatch_temperature_celsius": ("The processor's temperature", self._facts.celsius, 1),
        }
        for name, (says, value, unit) in measured.items():
            if value is not None:
                yield GaugeMetricFamily(name, says, value * unit)
        yield from _limits(self._facts)
        verdicts = GaugeMetricFamily(
            "feltwatch_check",
            "A check's verdict: 0 well or not installed, 1 unknown, 2 to be seen to, 3 bad",
            labels=["check"],
        )
        for check in judge(self._facts):
            verdicts.add_metric([check.name], _NUMBERS[check.verdict])
        yield verdicts


def _limits(facts: Facts) -> Iterator[Metric]:
    """Return the duration and the time limit of each kind of work, by its name."""
    gauges = {
        "feltwatch_limit_seconds": ("The limit after which work is given up, now", "limit_s"),
        "feltwatch_limit_floor_seconds": ("The shortest that this limit may be", "floor_s"),
        "feltwatch_limit_ceiling_seconds": ("The longest that it may be", "ceiling_s"),
        "feltwatch_work_usual_seconds": ("What this work usually takes", "usual_s"),
        "feltwatch_work_timeouts": ("How many of the recent pieces of this work were given up", "timeouts"),
    }
    for name, (says, field) in gauges.items():
        family = GaugeMetricFamily(name, says, labels=["work"])
        for work, figures in sorted((facts.limits or {}).items()):
            if figures[field] is not None:
                family.add_metric([work], figures[field])
        yield family


_NUMBERS: Final = {"absent": 0, "ok": 0, "unknown": 1, "look": 2, "bad": 3}


def exposition(tallies: Tallies, facts: Facts, state: State) -> bytes:
    """Return all metrics in Prometheus's text format."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Scrape(tallies, facts, state))
    return generate_latest(registry)
