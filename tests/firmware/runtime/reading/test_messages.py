"""What the reading process is asked to be."""

from __future__ import annotations

import pytest

from firmware.runtime.reading.messages import reading_threads


@pytest.mark.parametrize(("cores", "threads"), [(1, 1), (2, 1), (3, 1), (4, 2), (8, 2)])
def test_a_frame_is_read_by_half_the_cores_and_two_at_the_most(cores: int, threads: int) -> None:
    assert reading_threads(cores) == threads
