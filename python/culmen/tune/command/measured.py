"""Runs a program once, and measures this run. It is started by its path, and uses only the standard library:

    python -I measured.py OPTIONS -- PROGRAM WORD…

Standard input and output are the program's own. The time and the other figures are written to the file ``REPORT`` in
the current folder. If the program fails, this process ends with the same exit code, or by the same signal.
"""

import argparse
import contextlib
import fcntl
import hashlib
import json
import os
import re
import resource
import runpy
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

REPORT = "culmen-measured.json"
BUILD = "{build}"  # in words of a recipe: the folder with the result of the build
PLACE = "{.build}"  # the same in words of a study: unlike {build}, it is not like the name of any parameter
_WRONG, _LATE, _UNBUILT = 127, 124, 125  # exit codes; the first two are those of a shell and of `timeout`
UNBUILT = "the build"  # begins the message about a build that failed; the end of its log stands before this message
_LOG, _DONE, _LINES = "build.log", ".culmen-built", 15
LAUNCHERS = "CULMEN_BENCH_LAUNCHERS"  # of bench/parts.py: variables of launchers, which evaluators do not get
_DECISIVE = re.compile(
    r"((OMPI|MPICH|I_MPI)_)?(CC|CXX|FC|F77|F90)|MPI(CC|CXX|FC|F77|F90)|LD|AR|NVCC|HIPCC|\w*FLAGS|LIBS|LDLIBS"
    r"|CPATH|\w*INCLUDE_PATH|LIBRARY_PATH|PKG_CONFIG_PATH|LOADEDMODULES"
)
_KEY = re.compile("[0-9a-f]{16}")  # of the folder of a build
_COMPILERS = (
    "cc", "c++", "gcc", "g++", "gfortran", "clang", "clang++", "icx", "icpx", "ifx", "nvcc",
    "mpicc", "mpicxx", "mpif90", "mpifort",
)  # fmt: skip
ENERGY = Path("/sys/class/powercap")
_MOST_W = 2000.0  # more than a processor uses


def main() -> None:
    options = _options(sys.argv[1:])
    os.environ.update({**json.loads(os.environ.pop(LAUNCHERS, "{}")), **os.environ})
    if options.module:
        _load(options.module, [*options.hide, *options.keep])
    build = _built(options) if options.build else None
    report = Path(REPORT).resolve()
    _report(report, *_run(_expanded(_placed(options, build), options.expand), options.time_limit))


def _options(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="measured.py")
    parser.add_argument("--folder", type=Path, required=True, help="relative paths of sources start there")
    parser.add_argument("--time-limit", type=float, default=0, help="of the program, in seconds")
    parser.add_argument("--builds", type=Path, help="the folder with all builds")
    parser.add_argument("--build", action="append", default=[], help="a word of the build's command")
    parser.add_argument("--source", action="append", default=[], type=Path, help="a file or folder for the build")
    parser.add_argument("--module", action="append", default=[], help="environment modules to load")
    parser.add_argument("--hide", action="append", default=[], help="a variable of a setting, not of a build or module")
    parser.add_argument("--keep", action="append", default=[], help="a variable that modules do not change")
    parser.add_argument("--expand", help="a Python file that turns the words into those of the program")
    parser.add_argument("--round", help="only makes evaluations differ")
    parser.add_argument("words", nargs="+")
    return parser.parse_args(words)


def _load(modules: list[str], kept: list[str]) -> None:
    if why := runpy.run_path(str(Path(__file__).with_name("loaded.py")))["load"](modules, kept):
        _end(_UNBUILT, why)


def _placed(options: argparse.Namespace, build: Path | None) -> list[str]:
    if build is None:
        return list(options.words)
    for name, value in os.environ.items():
        if PLACE in value:
            os.environ[name] = value.replace(PLACE, str(build))
    return [word.replace(PLACE, str(build)) for word in options.words]


def _expanded(words: list[str], file: str | None) -> list[str]:
    """The words that the function ``expanded`` of this file returns. It may also change the environment and the current
    folder."""
    if not file:
        return words
    made = runpy.run_path(file)
    return list(made["expanded"](words)) if "expanded" in made else _planned(words, made["run_of"])


def _planned(words: list[str], run_of: Callable[..., tuple[dict[str, str], list[str]]]) -> list[str]:
    """For culmen's own files, whose function ``run_of`` makes the variables and the words of a run. ``words``: the path
    of a plan, and settings such as ``binding=core``."""
    path, settings = Path(words[0]), dict(word.split("=", 1) for word in words[1:])
    plan = json.loads(path.read_text(encoding="utf-8"))
    for name, value in settings.items():  # the program must see the same variables as without culmen
        if os.environ.get(name) == value:
            del os.environ[name]
    variables, line = run_of(plan, settings, path)
    os.environ.update({**variables, "PWD": plan["folder"]})
    os.chdir(plan["folder"])
    return line


def _run(words: list[str], limit_s: float) -> tuple[float, float, int, float | None]:
    """Runs the program. Returns wall time and processor time in seconds, the largest memory of one process in bytes,
    and the energy in joule."""
    meter, begun = Meter(), time.perf_counter()
    try:
        pid = os.posix_spawnp(words[0], words, os.environ, setsigdef=[signal.SIGPIPE, signal.SIGXFSZ])
    except OSError as e:
        _end(_WRONG, f"the program {words[0]} cannot be started: {e.strerror}")
    except ValueError as e:
        _end(_WRONG, f"the program {words[0]} cannot be started: {e}")
    if limit_s:
        signal.signal(signal.SIGALRM, lambda *_: _end_late(pid, limit_s))
        signal.setitimer(signal.ITIMER_REAL, limit_s)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)  # the program keeps its process number until the alarm is off
    wall_s, joule = time.perf_counter() - begun, meter.end()
    signal.setitimer(signal.ITIMER_REAL, 0)
    _, status, used = os.wait4(pid, 0)
    if os.WIFSIGNALED(status):
        _die_of(os.WTERMSIG(status))
    if code := os.waitstatus_to_exitcode(status):
        sys.exit(code)
    return wall_s, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024, joule


def _die_of(number: int) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # the program itself has written a core file, if this is allowed
    with contextlib.suppress(OSError):  # SIGKILL has no handler
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def _end_late(pid: int, limit_s: float) -> None:
    os.kill(pid, signal.SIGKILL)  # culmen kills the processes that the program has started
    _end(_LATE, f"the program ran longer than {limit_s:g} s")


def _report(file: Path, wall_s: float, cpu_s: float, memory: int, joule: float | None) -> None:
    figures = {"wall_time_s": wall_s, "cpu_time_s": cpu_s, "memory_bytes": memory}
    if joule is not None:
        figures["energy_j"] = joule
    file.write_text(json.dumps(figures) + "\n")


def energy_j() -> dict[str, tuple[float, float]] | None:
    """For each processor of this machine, the energy in joule that it has used, and the value at which this counter
    wraps around. The source is RAPL, by the kernel's powercap interface. None if it is not readable."""
    try:
        zones = [z for z in ENERGY.glob("intel-rapl:*") if (z / "name").read_text().startswith("package")]
        found = {z.name: (_number(z / "energy_uj"), _number(z / "max_energy_range_uj")) for z in zones}
    except (OSError, ValueError):
        return None
    return found or None


def _number(file: Path) -> float:
    return int(file.read_text()) * 1e-6


class Meter:
    """The energy of all processors of this machine from now on. A counter wraps around after some minutes, so a thread
    reads it before that."""

    def __init__(self) -> None:
        self._last, self._joule, self._ended = energy_j(), 0.0, threading.Event()
        if self._last is not None:
            self._every_s = min(size for _, size in self._last.values()) / _MOST_W
            self._thread = threading.Thread(target=self._follow, daemon=True)
            self._thread.start()

    def end(self) -> float | None:
        """The energy in joule; None if it is not readable."""
        self._ended.set()
        if self._last is None:
            return None
        self._thread.join()
        self._read()
        return None if self._last is None else self._joule

    def _follow(self) -> None:
        while self._last is not None and not self._ended.wait(self._every_s):
            self._read()

    def _read(self) -> None:
        before, self._last = self._last, energy_j()
        if before is None or self._last is None or before.keys() != self._last.keys():
            self._last = None
            return
        self._joule += sum((now - before[zone][0]) % size for zone, (now, size) in self._last.items())


def _built(options: argparse.Namespace) -> Path:
    """The folder of this build. Builds with the same words, sources and compilers are made only once, even if several
    workers need them."""
    sources = [options.folder / source for source in options.source]
    key = hashlib.sha256(json.dumps([options.build, _decisive(_seen(options)), _cpu()]).encode())
    try:
        for source in sources:
            for path in _files_in(source):
                key.update(os.fsencode(path.relative_to(source.parent)) + b"\0%d\0" % path.stat().st_mode)
                key.update(_digest(path))
    except OSError as e:
        _end(_UNBUILT, f"[build] sources: {e.filename} cannot be read: {e.strerror}")
    options.builds.mkdir(parents=True, exist_ok=True)
    folder = options.builds / key.hexdigest()[:16]
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / _DONE).exists():
            shutil.rmtree(folder, ignore_errors=True)
            _build(options, sources, folder)
    return folder


def remove_builds(builds: Path) -> None:
    """Removes all builds. The folder may also have files of the user."""
    for lock in builds.glob("*.lock"):
        if _KEY.fullmatch(lock.stem):
            shutil.rmtree(lock.with_suffix(""), ignore_errors=True)
            lock.unlink()
    with contextlib.suppress(OSError):  # it has other files, or does not exist
        builds.rmdir()


def _files_in(source: Path) -> Iterator[Path]:
    yield from sorted(p for p in source.rglob("*") if p.is_file()) if source.is_dir() else [source]


def _seen(options: argparse.Namespace) -> dict[str, str]:
    """The environment of a build, without settings. Settings reach a build only through its words, which identify the
    build."""
    return {k: v for k, v in os.environ.items() if k not in options.hide and not k.startswith("CULMEN_")}


def _decisive(seen: dict[str, str]) -> dict[str, str]:
    """The part of a build's environment that changes its result: variables of compilers, and where compilers are.
    Other variables differ between shells, and must not make builds differ."""
    found = {name: value for name, value in seen.items() if _DECISIVE.fullmatch(name)}
    named = {value.split()[0] for value in found.values() if value.split()}
    for program in sorted(named.union(_COMPILERS)):
        if place := shutil.which(program, path=seen.get("PATH")):
            found[f"which {program}"] = os.path.realpath(place)
    return dict(sorted(found.items()))


def _cpu() -> str:
    """The model of the processor, because compilers can build for the machine on which they run."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    return text.partition("model name")[2].partition("\n")[0].strip(" \t:")


def _digest(path: Path) -> bytes:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.digest()


def _build(options: argparse.Namespace, sources: list[Path], folder: Path) -> None:
    folder.mkdir()
    try:
        for source in sources:
            if source.is_dir():
                shutil.copytree(source, folder / source.name, symlinks=True)
            else:
                shutil.copy2(source, folder / source.name)
    except OSError as e:
        _end(_UNBUILT, f"[build] sources cannot be copied to {folder}: {e}")
    log = folder / _LOG
    with log.open("w") as out:
        try:
            words = [word.replace(PLACE, str(folder)) for word in options.build]
            ran = subprocess.run(
                words, cwd=folder, env=_seen(options), stdin=subprocess.DEVNULL, stdout=out, stderr=out
            )
        except OSError as e:
            _end(_UNBUILT, f"{UNBUILT} cannot be started: {options.build[0]}: {e.strerror}")
    if (code := ran.returncode) != 0:
        for line in log.read_text(errors="replace").splitlines()[-_LINES:]:
            print(f"  {line}", file=sys.stderr)
        command = " ".join(" ".join(options.build).replace(PLACE, BUILD).split())  # in one line
        _end(_UNBUILT, f"{UNBUILT} ended with exit code {code}: {command}")
    (folder / _DONE).touch()


def _end(code: int, why: str) -> NoReturn:
    print(f"culmen: {why}", file=sys.stderr, flush=True)
    os._exit(code)


if __name__ == "__main__":
    main()
