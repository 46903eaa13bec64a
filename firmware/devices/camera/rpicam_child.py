"""Runs `rpicam-vid` for the reading process, and passes its frames on through shared memory.

python rpicam_child.py MEMORY BYTES rpicam-vid ...

A separate process, so that 18 MB a frame are drained without delaying the reading, and so that a hung camera can be
killed. Standard library only: any Python of the box runs it, independent of the packages of the system Python (apt's
picamera2 and PyPI's numpy are incompatible).

MEMORY is the descriptor of a memory file of two frames of BYTES each. A request on standard input is `frame N`: a frame
whose first row was exposed at N or later, in CLOCK_BOOTTIME nanoseconds. The answer is a line of JSON on standard
output: `{"slot": 0 or 1, "metadata": {...}}`, with all metadata of that frame. The slot is not overwritten before the
next request. `{"error": "..."}` is the last line of a failed process. It ends when standard input ends.

UNTESTED on hardware: written to rpicam-apps' sources. rpicam-vid writes a whole frame, and then its metadata.
"""

import ctypes
import fcntl
import json
import mmap
import os
import signal
import subprocess
import sys
import threading
from typing import IO

PIPE_BYTES = 1 << 20
LAST_WORDS_S = 2.0
_PR_SET_PDEATHSIG = 1


def end_with_parent() -> None:
    """Make the kernel kill this process when its parent ends for any reason."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


class Child:
    """Copies the frames from the pipe into the two slots."""

    def __init__(self, memory: int, frame_bytes: int, command: list[str]) -> None:
        self._frame_bytes = frame_bytes
        self._memory = memoryview(mmap.mmap(memory, 2 * frame_bytes))
        self._slot = 0
        self._wanted: int | None = None
        self._lock = threading.Lock()
        metadata, theirs = os.pipe()
        self._process = subprocess.Popen(
            [*command, "--metadata", f"/dev/fd/{theirs}", "--metadata-format", "txt"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            pass_fds=(theirs,),
            preexec_fn=end_with_parent,
        )
        os.close(theirs)
        self._metadata = os.fdopen(metadata, encoding="utf-8", errors="replace")
        self._last_words = ""

    def run(self) -> None:
        """Answer requests until standard input ends or rpicam-vid does."""
        complaints = threading.Thread(target=self._read_complaints, daemon=True)
        complaints.start()
        threading.Thread(target=self._listen, daemon=True).start()
        assert self._process.stdout is not None
        with self._process.stdout as frames:
            fcntl.fcntl(frames, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
            while self._fill(frames):
                metadata = self._metadata_of_frame()
                if metadata is None:
                    break
                self._offer(metadata)
        self._process.wait()
        complaints.join(LAST_WORDS_S)  # its last line may still be in the pipe
        send({"error": self._last_words or "rpicam-vid ended"})

    def _fill(self, frames: IO[bytes]) -> bool:
        """Read one whole frame into the free slot; False at the end."""
        start = self._slot * self._frame_bytes
        room = self._memory[start : start + self._frame_bytes]
        while room:
            count = frames.readinto(room)  # type: ignore[attr-defined]
            if not count:
                return False
            room = room[count:]
        return True

    def _metadata_of_frame(self) -> dict[str, str] | None:
        """Return the lines of `Name=value` up to an empty one; None at the end."""
        found: dict[str, str] = {}
        for line in self._metadata:
            if line == "\n":
                return found
            name, _, value = line.strip().partition("=")
            found[name] = value
        return None

    def _offer(self, metadata: dict[str, str]) -> None:
        taken = metadata.get("SensorTimestamp", "")
        with self._lock:
            if self._wanted is None or not taken.isdecimal() or int(taken) < self._wanted:
                return
            self._wanted = None
            slot, self._slot = self._slot, 1 - self._slot
        send({"slot": slot, "metadata": metadata})

    def _listen(self) -> None:
        for line in sys.stdin:
            with self._lock:
                self._wanted = int(line.split()[1])
        self._process.kill()
        os._exit(0)

    def _read_complaints(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            text = line.decode("utf-8", "replace").strip()
            self._last_words = text if "ERROR" in text else self._last_words


def send(what: dict[str, object]) -> None:
    """Send one line to the reading process."""
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    end_with_parent()
    Child(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]).run()
