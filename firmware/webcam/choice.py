"""Which camera is meant: the first webcam, or what a person named."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

from firmware.devices.camera.address import PORTS, parts_of
from firmware.devices.camera.source import PICTURES
from firmware.devices.camera.v4l2 import is_capture
from firmware.runtime.config import CameraConfig
from firmware.runtime.errors import AppError

DEVICES: Final = Path("/dev")
WAYS: Final = (
    "plug a webcam in, or name a camera: --camera http://PHONE:8080/video, a video, a picture, or a folder "
    "of pictures."
)


def choose(
    name: str | None, devices: Path = DEVICES, gives_pictures: Callable[[Path], bool] = is_capture
) -> CameraConfig:
    """Return the settings of the camera that a person named; without a name, of the first webcam.

    `name`: a webcam's number or file, an address, a video, a picture, a folder of pictures. `gives_pictures`: whether a
    webcam's device gives pictures. Raises AppError; DeviceSettings for an invalid address.
    """
    if name is None:
        return _webcam(_first(devices, gives_pictures), devices)
    if name.isdecimal():
        return _webcam(_numbered(devices / f"video{int(name)}", devices, gives_pictures), devices)
    if name.partition("://")[0] in PORTS:
        parts_of(name)
        return CameraConfig.model_validate({"kind": "network", "address": name})
    path = Path(name).expanduser()
    if path.parent == devices and path.exists():
        return _webcam(path, devices)
    if path.is_dir():
        if not (pictures := folder_pictures(path)):
            raise AppError(f"There is no picture in {path}: put some there, or name another folder.")
        _need_whole(pictures)
    elif not path.is_file():
        raise AppError(f"There is no camera, no file and no folder {name}: {WAYS}")
    elif path.suffix.lower() in PICTURES:
        _need_whole([path])
    elif not _is_video(path):
        raise AppError(f"{path} is neither a picture nor a video that can be played.")
    return CameraConfig(kind="files", device=path.absolute())


def folder_pictures(folder: Path) -> list[Path]:
    """Return the pictures in a folder, by their names."""
    return sorted(path.absolute() for path in folder.iterdir() if path.suffix.lower() in PICTURES)


def _need_whole(pictures: list[Path]) -> None:
    """Raise AppError for half a picture, one that is too large, and what `feltwatch read` would not read either."""
    from vision.base.errors import VisionError
    from vision.base.pictures import load_picture

    for path in pictures:
        try:
            load_picture(path)
        except VisionError as error:
            raise AppError(str(error)) from error


def _is_video(path: Path) -> bool:
    # it loads OpenCV, which nothing else needs in this process
    from firmware.devices.camera.files import is_video

    return is_video(path)


def _first(devices: Path, gives_pictures: Callable[[Path], bool]) -> Path:
    found = _webcams(devices)
    if (first := next(filter(gives_pictures, found), None)) is not None:
        return first
    closed = next((path for path in found if not _may_open(path)), None)
    if closed is not None:
        raise AppError(
            f"The camera {closed} may not be opened by this user: add the user to the group video."
        )
    raise AppError(f"No webcam is connected: {WAYS}")


def _numbered(device: Path, devices: Path, gives_pictures: Callable[[Path], bool]) -> Path:
    if device.exists():
        return device
    others = [path.name.removeprefix("video") for path in filter(gives_pictures, _webcams(devices))]
    if others:
        raise AppError(f"There is no webcam {device}; there is: --camera {', '.join(others)}.")
    raise AppError(f"There is no webcam {device}: {WAYS}")


def _webcams(devices: Path) -> list[Path]:
    """Return the files of video devices by their numbers; a webcam has several, one of which gives its pictures."""
    nodes = (path for path in devices.glob("video*") if path.name.removeprefix("video").isdecimal())
    return sorted(nodes, key=lambda path: int(path.name.removeprefix("video")))


def _may_open(device: Path) -> bool:
    try:
        device.open("rb", buffering=0).close()
    except PermissionError:
        return False
    except OSError:
        return True
    return True


def _webcam(device: Path, devices: Path) -> CameraConfig:
    """Return the settings of a webcam by its stable name, where it has one: its number may be another next time."""
    names = sorted((devices / "v4l/by-id").glob("*"))
    stable = next((name for name in names if name.resolve() == device.resolve()), device)
    return CameraConfig(kind="uvc", device=stable)
