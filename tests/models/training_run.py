"""A training run of two minutes: `make test-training`, outside `make test`.

It trains on drawn cards alone, in a folder of its own: nothing packaged is touched.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

torch = pytest.importorskip("torch", reason="torch is installed for training only: make training")

from models.training.export import CameraInput, export  # noqa: E402
from models.training.loss import loss, targets  # noqa: E402
from models.training.net import IndexNet  # noqa: E402
from models.training.pips import CardMaker  # noqa: E402
from models.training.pips import train as train_pips  # noqa: E402
from models.training.samples import SIZE_PX, Sample  # noqa: E402
from models.training.scene import SceneMaker  # noqa: E402
from models.training.signs import CutMaker  # noqa: E402
from models.training.signs import train as train_signs  # noqa: E402
from models.training.train import Job, Trainer, tensor, train_until  # noqa: E402
from vision.reading.cards import CARDS, SUITS  # noqa: E402
from vision.reading.network import CardReader  # noqa: E402
from vision.reading.pips import COUNTS, PipReader, count_of, scores  # noqa: E402

CROPS = 4000  # enough to learn where an index is, not yet what it says


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Job:
    return Job(tmp_path_factory.mktemp("run"), None, CROPS, seed=1, makers=1)


@pytest.fixture(scope="module")
def unseen() -> list[Sample]:
    maker = SceneMaker(99, None, pool=4)
    return [maker.scene(SIZE_PX) for _ in range(64)]


def heat_error(net: IndexNet, samples: list[Sample]) -> float:
    with torch.no_grad():
        _, parts = loss(net.eval()(tensor(samples)), targets([c for _, c in samples], SIZE_PX))
    return parts["heat"]


@pytest.fixture(scope="module")
def trained(job: Job) -> IndexNet:
    """Trained in two goes, as if it had been stopped half way."""
    half = train_until(replace(job, until=CROPS // 2))
    assert CROPS // 2 <= Trainer(job).done < CROPS
    assert train_until(job) == half
    trainer = Trainer(job)
    assert trainer.done >= CROPS
    net: IndexNet = trainer.average
    return net


@pytest.mark.timeout(900)
def test_it_learns_where_indices_are(trained: IndexNet, unseen: list[Sample]) -> None:
    assert heat_error(trained, unseen) < 0.7 * heat_error(IndexNet(), unseen)


@pytest.mark.timeout(900)
def test_the_exported_model_says_what_torch_says(
    job: Job, trained: IndexNet, unseen: list[Sample], tmp_path: Path
) -> None:
    path = export(job.folder, tmp_path)
    reader = CardReader(path)
    for picture, _ in unseen[:8]:
        with torch.no_grad():
            cells, features = CameraInput(trained).eval()(torch.from_numpy(picture[None]))
        said = reader._session.run(None, {"picture": picture[None]})
        assert np.allclose(said[0], cells.numpy(), atol=1e-3)
        assert np.allclose(said[1], features.numpy(), atol=1e-3)
    assert reader.sha256 in path.with_suffix(".json").read_text()
    wide = np.zeros((112, 304, 3), np.uint8)
    assert len(reader.indices(wide, threshold=0.99)) == 0


@pytest.mark.timeout(900)
def test_the_pip_reader_learns_to_count(tmp_path: Path) -> None:
    reader = PipReader(train_pips(None, 12_000, 1, tmp_path), threads=1)
    maker = CardMaker(99, None, pool=4)
    cards = [maker.card() for _ in range(200)]
    said = scores(reader.readings(np.stack([picture for picture, _, _ in cards]))).argmax(axis=1)
    right = [count_of(CARDS[name]) == count for name, (_, count, _) in zip(said, cards, strict=True)]
    assert np.mean(right) > 3 / len(COUNTS)


@pytest.mark.timeout(900)
def test_the_suit_witness_learns_to_tell_suits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("models.training.signs.CACHE", tmp_path)
    net = onnxruntime.InferenceSession(train_signs(None, 4_000, 1, tmp_path))
    maker = CutMaker(99, None, pool=4)
    cuts = [maker.cut() for _ in range(200)]
    said = net.run(None, {"cuts": np.stack([cut for cut, _ in cuts])})[0]
    assert said.shape == (200, len(SUITS) + 1)
    assert np.mean(said.argmax(axis=1) == [suit for _, suit in cuts]) > 2 / len(SUITS)
