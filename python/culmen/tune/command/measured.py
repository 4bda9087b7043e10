"""Runs a program once, and measures this run. It is started by its path, with nothing but the standard library:

    python -I measured.py OPTIONS -- PROGRAM WORD…

Standard input and output are the program's own. The time, and what else was measured, go to the file ``REPORT`` in the
current folder. If the program fails, the exit code is its own, or this process dies of the same signal.
"""

import argparse
import fcntl
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

REPORT = "culmen-measured.json"
BUILD = "{build}"  # in words: the folder with the result of the build
_WRONG, _LATE, _UNBUILT = 127, 124, 125  # exit codes; the first two are those of a shell and of `timeout`
_LOG, _DONE, _LINES = "build.log", ".culmen-built", 15
ENERGY = Path("/sys/class/powercap")


def main() -> None:
    options = _options(sys.argv[1:])
    build = _built(options) if options.build else None
    _report(*_run(_placed(options, build), options.time_limit))


def _options(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="measured.py")
    parser.add_argument("--folder", type=Path, required=True, help="relative paths of the program start there")
    parser.add_argument("--time-limit", type=float, default=0, help="of the program, in seconds")
    parser.add_argument("--builds", type=Path, help="the folder with all builds")
    parser.add_argument("--build", action="append", default=[], help="a word of the build's command")
    parser.add_argument("--source", action="append", default=[], type=Path, help="a file or folder for the build")
    parser.add_argument("--round", help="only makes evaluations differ")
    parser.add_argument("words", nargs="+")
    return parser.parse_args(words)


def _placed(options: argparse.Namespace, build: Path | None) -> list[str]:
    words = [word.replace(BUILD, str(build)) if build else word for word in options.words]
    if "/" in words[0]:
        words[0] = str(options.folder / words[0])
    return words


def _run(words: list[str], limit_s: float) -> tuple[float, float, int, float | None]:
    """Wall time and processor time in seconds, the most memory of one process in bytes, energy in joule."""
    before, begun = energy_j(), time.perf_counter()
    try:
        pid = os.posix_spawnp(words[0], words, os.environ)
    except OSError as e:
        _end(_WRONG, f"the program {words[0]} cannot be started: {e.strerror}")
    if limit_s:
        signal.signal(signal.SIGALRM, lambda *_: _end_late(pid, limit_s))
        signal.setitimer(signal.ITIMER_REAL, limit_s)
    _, status, used = os.wait4(pid, 0)
    wall_s, after = time.perf_counter() - begun, energy_j()
    signal.setitimer(signal.ITIMER_REAL, 0)
    if os.WIFSIGNALED(status):
        signal.signal(os.WTERMSIG(status), signal.SIG_DFL)
        os.kill(os.getpid(), os.WTERMSIG(status))
    if code := os.waitstatus_to_exitcode(status):
        sys.exit(code)
    joule = None if before is None or after is None else after - before
    return wall_s, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024, joule


def _end_late(pid: int, limit_s: float) -> None:
    os.kill(pid, signal.SIGKILL)  # culmen kills what the program has started
    _end(_LATE, f"the program ran longer than {limit_s:g} s")


def _report(wall_s: float, cpu_s: float, memory: int, joule: float | None) -> None:
    figures = {"wall_time_s": wall_s, "cpu_time_s": cpu_s, "memory_bytes": memory}
    if joule is not None and joule >= 0:  # the counter begins again at times
        figures["energy_j"] = joule
    Path(REPORT).write_text(json.dumps(figures) + "\n")


def energy_j() -> float | None:
    """What the processors of this machine have used (RAPL, by the kernel's powercap interface); None: not readable."""
    try:
        packages = [p for p in ENERGY.glob("intel-rapl:*") if p.name.count(":") == 1]
        return sum(int((p / "energy_uj").read_text()) for p in packages) * 1e-6 if packages else None
    except (OSError, ValueError):
        return None


def _built(options: argparse.Namespace) -> Path:
    """The folder of this build. Builds of the same words and sources are made once, also by several workers."""
    sources = [options.folder / source for source in options.source]
    key = hashlib.sha256(json.dumps(options.build).encode())
    for source in sources:
        for path in _files_in(source):
            key.update(f"{path.relative_to(source.parent)}\0{path.stat().st_mode}\0".encode())
            key.update(hashlib.sha256(path.read_bytes()).digest())
    options.builds.mkdir(parents=True, exist_ok=True)
    folder = options.builds / key.hexdigest()[:16]
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / _DONE).exists():
            shutil.rmtree(folder, ignore_errors=True)
            _build(options, sources, folder)
    return folder


def _files_in(source: Path) -> Iterator[Path]:
    yield from sorted(p for p in source.rglob("*") if p.is_file()) if source.is_dir() else [source]


def _build(options: argparse.Namespace, sources: list[Path], folder: Path) -> None:
    folder.mkdir()
    for source in sources:
        if source.is_dir():
            shutil.copytree(source, folder / source.name, symlinks=True)
        else:
            shutil.copy2(source, folder / source.name)
    log = folder / _LOG
    with log.open("w") as out:
        try:
            words = [word.replace(BUILD, str(folder)) for word in options.build]
            code = subprocess.run(words, cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=out).returncode
        except OSError as e:
            _end(_UNBUILT, f"the build cannot be started: {options.build[0]}: {e.strerror}")
    if code != 0:
        end = "".join(f"\n  {line}" for line in log.read_text(errors="replace").splitlines()[-_LINES:])
        _end(_UNBUILT, f"the build ended with exit code {code}: {' '.join(options.build)}{end}")
    (folder / _DONE).touch()


def _end(code: int, why: str) -> NoReturn:
    print(f"culmen: {why}", file=sys.stderr, flush=True)
    os._exit(code)


if __name__ == "__main__":
    main()
