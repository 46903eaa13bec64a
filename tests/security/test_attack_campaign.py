"""A short attack campaign: every attack with its defence and without, a few flips, and that it can fail."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from firmware.record.journal.journal import FILE, JournalReader
from tests.campaigns.security.attack_campaign import defences, flips
from tests.campaigns.security.attack_campaign.__main__ import IN_MEMORY, all_parts
from tests.campaigns.security.attack_campaign.attack import Attack
from tests.campaigns.security.attack_campaign.attacks import ATTACKS
from tests.campaigns.security.attack_campaign.flips import Ground, Judge, judged
from tests.campaigns.security.attack_campaign.pages import FILES, Flip, choose, parts
from tests.campaigns.security.attack_campaign.records import make_records
from tests.campaigns.security.attack_campaign.report import AttackTrial, Campaign
from tests.examples import THOROUGH

pytestmark = pytest.mark.slow

HANDS = 8
FLIPS = 40 if THOROUGH else 20


@pytest.fixture(scope="module")
def memory() -> Iterator[Path]:
    """A folder that syncs at once, where the machine has such a place."""
    with tempfile.TemporaryDirectory(dir=IN_MEMORY if IN_MEMORY.is_dir() else None) as name:
        yield Path(name)


@pytest.fixture(scope="module")
def ground(memory: Path) -> Ground:
    folder = memory / "ground"
    folder.mkdir()
    return Ground(make_records(folder, HANDS, seed=1), HANDS, folder / "key")


@pytest.fixture
def room(memory: Path) -> Path:
    return Path(tempfile.mkdtemp(dir=memory))


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.number)
def test_an_attack_is_held_off_and_gets_through_without_its_defence(
    ground: Ground, room: Path, attack: Attack
) -> None:
    if attack.number == "8b" and os.geteuid() != 0:
        pytest.skip("only root can restore as root")
    tried = AttackTrial(
        attack,
        attack.tried(ground, room, is_naive=False),
        attack.tried(ground, room, is_naive=True),
    )
    assert list(tried.problems()) == []


def test_no_flip_of_a_few_is_silent(ground: Ground, room: Path) -> None:
    every = all_parts(ground)
    chosen = choose(every, FLIPS, random.Random(2))
    assert {flip.file for flip in chosen} == set(FILES)
    assert len(set(chosen)) == FLIPS
    judge = Judge(ground, room)
    done = [judge.judge(flip) for flip in chosen]
    assert [one for one in done if one.outcome == "PROBLEM"] == []
    campaign = Campaign(HANDS, 2, every, done, (), None, 0.0, is_naive=False)
    assert campaign.problems() == []
    assert f"| all | | {len(every)} |" in campaign.page().replace(",", "")


def test_a_flip_in_every_part_leaves_no_page_out(ground: Ground) -> None:
    every = parts("freed", ground.records["freed"])
    sizes = [sum(part.end - part.begin for part in every if part.file == name) for name in FILES[:1]]
    assert sizes == [(ground.records["freed"] / name).stat().st_size for name in FILES[:1]]
    hit = choose(every, len(every), random.Random(1))
    assert {next(p for p in every if p.file == f.file and p.begin <= f.offset < p.end) for f in hit} == set(
        every
    )
    assert {part.what for part in every} >= {"header", "schema", "freelist", "journal, leaf", "content, leaf"}


def test_flips_get_through_without_the_defences(ground: Ground, room: Path) -> None:
    judge = Judge(ground, room)
    kept = next(iter(JournalReader(ground.records["freed"]).contents().values()))
    data = (ground.records["freed"] / FILE).read_bytes()
    flip = Flip("freed", FILE, data.index(kept[:200]) + 5, 1)
    assert judge.judge(flip).outcome == "said"
    with defences.off(*defences.OF_FLIPS):
        found = judge.judge(flip)
    assert found.outcome == "PROBLEM"
    assert found.words.endswith("is otherwise, and verify says that all holds")
    campaign = Campaign(HANDS, 1, (), (found,), (), None, 0.0, is_naive=True)
    assert campaign.problems() == [f"flip {flip} (): {found.words}"]


def test_a_process_that_ends_or_hangs_is_a_problem_of_its_flip(
    ground: Ground, room: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(multiprocessing, "get_context", lambda _: multiprocessing)
    monkeypatch.setattr(flips, "WITHIN_S", 1.0)

    def judge(self: Judge, flip: Flip) -> flips.FlipResult:
        if flip.bit == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        if flip.bit == 2:
            signal.pause()
        return flips.FlipResult(flip, "nothing")

    monkeypatch.setattr(Judge, "judge", judge)
    monkeypatch.setattr(Judge, "intact", lambda *_: None)
    asked = [Flip("closed", "journal.sqlite", 0, bit) for bit in range(4)]
    done = list(judged(ground, asked, room, 1))
    assert [(one.flip.bit, one.words) for one in done] == [
        (0, ""),
        (1, "the process ended"),
        (2, "the process hung"),
        (3, ""),
    ]
