"""The pit's scrape configuration, alert rules and dashboard name metrics that the pit has."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest
import yaml

from pit.pages import certificates, metrics
from tests.tools import PROMTOOL, needs

FOLDER = Path(__file__).parents[2] / "systemd" / "pit" / "monitoring"
NAMED = re.compile(r"feltwatch_pit_\w+")


def known() -> set[str]:
    return set(NAMED.findall(Path(metrics.__file__).read_text(encoding="utf-8")))


def alerts() -> list[dict[str, str]]:
    rules = yaml.safe_load((FOLDER / "alerts.yml").read_text(encoding="utf-8"))
    return [rule for group in rules["groups"] for rule in group["rules"]]


@pytest.mark.parametrize("name", ["alerts.yml", "dashboard.json"])
def test_only_metrics_that_the_pit_has_are_named(name: str) -> None:
    named = set(NAMED.findall((FOLDER / name).read_text(encoding="utf-8")))
    assert named
    assert named <= known()


def test_the_alerts_that_must_exist_are_there() -> None:
    found = {rule["alert"]: rule["expr"] for rule in alerts()}
    assert found["DatabaseSetBack"] == "feltwatch_pit_log_epoch_unseen > 0"
    assert found["KeyNotAccepted"] == "feltwatch_pit_unaccepted_keys > 0"
    assert found["PitProcessesGone"] == "feltwatch_pit_processes == 0"
    assert found["RecordDiffers"] == "feltwatch_pit_fork == 1"
    assert found["TableUnheard"] == "feltwatch_pit_heard_seconds > 300"
    assert found["ReleaseStopped"] == "feltwatch_pit_channel_stopped == 1"
    assert found["TableBehind"] == 'feltwatch_pit_lack{lack="rows"} == 1'
    assert found["FloorBehind"] == 'feltwatch_pit_lack{lack="followed"} == 1'
    assert found["TableProcessGone"] == 'feltwatch_pit_lack{lack="process"} == 1'
    assert found["TableProcessUnknown"] == 'feltwatch_pit_lack{lack="pulse"} == 1'
    assert found["TableCheckBad"] == 'feltwatch_pit_check{verdict="bad"} == 1'
    assert found["BackupLate"] == "time() - feltwatch_pit_backup_time_seconds > 90000"
    ending = "feltwatch_pit_certificate_end_time_seconds{{certificate{}}} - time() < {} * 86400"
    assert found["CertificateEnds"] == ending.format('!="files"', certificates.WARN_DAYS)
    assert found["FilesNotSigned"] == ending.format('="files"', certificates.WARN_FILES_DAYS)
    assert {"PitDiskNearlyFull", "StandbyGone", "PitAway", "LogNotReceived", "CopyBeginsAnew"} <= set(found)


def test_every_metric_that_the_pit_has_is_on_the_dashboard_or_rings() -> None:
    shown = "".join((FOLDER / name).read_text(encoding="utf-8") for name in ("alerts.yml", "dashboard.json"))
    assert known() - set(NAMED.findall(shown)) == {
        "feltwatch_pit_rows",  # a length; what matters of it is how far it is behind
        "feltwatch_pit_log_epoch",  # a number; a new one rings
    }


def test_no_two_panels_of_the_dashboard_lie_on_each_other() -> None:
    panels = json.loads((FOLDER / "dashboard.json").read_text(encoding="utf-8"))["panels"]
    cells = [
        (x, y)
        for at in (panel["gridPos"] for panel in panels)
        for x in range(at["x"], at["x"] + at["w"])
        for y in range(at["y"], at["y"] + at["h"])
    ]
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) < 24
    assert len({panel["id"] for panel in panels}) == len(panels)


def test_every_panel_of_the_dashboard_has_a_title_and_a_query() -> None:
    panels = json.loads((FOLDER / "dashboard.json").read_text(encoding="utf-8"))["panels"]
    assert len(panels) >= 10
    assert all(panel["title"] and panel["targets"][0]["expr"] for panel in panels)


@needs(PROMTOOL)
def test_promtool_takes_the_rules_and_the_configuration() -> None:
    subprocess.run(["promtool", "check", "rules", FOLDER / "alerts.yml"], check=True)
    subprocess.run(["promtool", "check", "config", "--syntax-only", FOLDER / "prometheus.yml"], check=True)
