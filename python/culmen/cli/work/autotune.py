"""``culmen autotune``: tunes the collectives of a program while it runs."""

import sys
from collections.abc import Mapping
from itertools import count
from pathlib import Path

from rich.console import Console

from ..._core import InputError
from ...base.exit_codes import RESUMABLE, as_of_a_shell
from ...bench.words import check_known, sizes_of, words_of
from ...launch.mpi import LauncherError, find_launcher, with_library
from ...launch.mpi import load as all_mpis
from ...launch.watched import RunStoppedError
from ...tune.autotune.page import page
from ...tune.autotune.running import Command
from ...tune.autotune.tuned import Tuning, read_tuning
from ...tune.autotune.validated import Compared, validate
from ...tune.cluster import in_force
from ...tune.cluster.installed import with_undo

_EXAMPLE = "example: culmen autotune -- mpiexec -n 4 ./app"
_NO_END = 2**63
_SIZES = {"MIN_BYTES": "--min-bytes", "MAX_BYTES": "--max-bytes", "MEMORY": "--memory"}
_NEEDED_AGAIN = {"ONE_THREAD": "--one-thread", "SAME_TYPES": "--same-types", "ONE_REQUEST": "--one-request"}
_FOR_SEARCHES = {"REPETITIONS": "--repetitions", "WARMUP": "--warm-up", "RECHECK": "--recheck"}


def run(
    words: list[str],
    settings: Mapping[str, object],
    output: Path | None,
    load: Path | None,
    rounds: int | None,
    time_limit_s: float | None = None,
    mpi: str | None = None,
) -> int:
    """Returns the program's exit code. ``time_limit_s``: of each run, with ``rounds``; None: from the first run."""
    if not words:
        raise InputError(f"a command after -- is missing; {_EXAMPLE}")
    if time_limit_s is not None and rounds is None:
        raise InputError("--time-limit is for the runs of --validate; add --validate N, or leave out --time-limit")
    if load is not None:
        if output is not None or rounds is not None:
            raise InputError(
                "with --load, nothing new is learnt: leave out --output and --validate, or leave out --load"
            )
        for name, option in _FOR_SEARCHES.items():
            if name in settings:
                raise InputError(f"{option} has no effect with --load, which tries no algorithms")
        read_tuning(load)
    words_of_settings = {name: _word(name, value) for name, value in settings.items()}
    least, most = (int(words_of_settings.get(name, end)) for name, end in (("MIN_BYTES", 0), ("MAX_BYTES", _NO_END)))
    if least > most:
        raise InputError(
            f"--min-bytes {settings['MIN_BYTES']} is more than --max-bytes {settings['MAX_BYTES']}; no message has "
            "such a size"
        )
    file = _free(output)
    command = Command(words, words_of_settings, mpi)
    if load is not None:
        return as_of_a_shell(command.tune(None, load))
    try:
        compared = validate(command, file, rounds, _say, time_limit_s, _read) if rounds else None
    except RunStoppedError:
        _say_stopped(file, output is not None)
        return RESUMABLE
    code = 0 if compared else command.tune(file, None)
    changed = _show(file, code, str(settings.get("COLLECTIVES", "")))
    if compared and compared.default_s:
        _show_gains(compared)
    also = "".join(f" {option}" for name, option in _NEEDED_AGAIN.items() if name in settings)
    if changed:
        print(
            f"\nThe choices are in {file}. To use them from the first call on:\n"
            f"culmen autotune --load {file}{also} -- COMMAND"
        )
    elif file.exists():
        print(f"Wrote {file}, which has no other algorithms.")
    return as_of_a_shell(code)


def _say(text: str) -> None:
    print(f"culmen: {text}", flush=True)


def _say_stopped(file: Path, was_named: bool) -> None:
    """``file``: of the first run, if it ended. ``was_named``: by the user."""
    again = "the same command starts again"
    if file.exists():
        again += f", with another --output: {file} has the choices of the first run" if was_named else ""
    print(f"Not all runs are done, so nothing is said about the speed; {again}.", file=sys.stderr, flush=True)


def _word(name: str, value: object) -> str:
    if name in _SIZES:
        sizes = sizes_of(str(value), _SIZES[name])
        if len(sizes) != 1:
            raise InputError(f"{_SIZES[name]} must be one size such as 100, 64K or 4M, got '{value}'")
        return str(sizes[0])
    if name == "COLLECTIVES":
        known = sorted({each for mpi in all_mpis() if mpi.collectives for each in mpi.collectives.all_names})
        check_known("--collectives", "collective", words := words_of(str(value), "--collectives"), known)
        return ",".join(words)
    if name == "COMMUNICATORS":
        return ",".join(words_of(str(value), "--communicators"))
    return "1" if value is True else str(value)


def _free(file: Path | None) -> Path:
    if file is None:
        return next(free for k in count(1) if not (free := Path(f"autotune-{k}.tuning")).exists())
    if file.exists():
        raise InputError(f"{file} exists already; choose another --output, or remove it")
    if not file.absolute().parent.is_dir():
        raise InputError(f"the folder of {file} does not exist; make it, or choose another --output")
    return file


def _read(file: Path) -> Tuning:
    return with_undo(read_tuning(file))


def _show(file: Path, code: int, collectives: str = "") -> bool:
    """Whether there is a choice to use. ``collectives``: the only ones that are tuned; empty: all."""
    if file.exists():
        tuning = _read(file)
        Console(highlight=False).print(page(tuning, _fixed(tuning, collectives)))
        return bool(tuning.changed)
    if code == 0:
        reason = "it did not end with MPI_Finalize, or it is linked statically and cannot be tuned"
        raise InputError(f"the program left no tuning file: {reason}")
    print(f"culmen: the program ended with exit code {code} before MPI_Finalize; nothing was tuned", file=sys.stderr)
    return False


def _fixed(tuning: Tuning, collectives: str) -> list[str]:
    """Sentences about the collectives whose algorithms the settings of the user fix."""
    mpi = with_library(tuning.mpi)
    try:
        asked = words_of(collectives, "--collectives") if collectives else ()
        return in_force.sentences(find_launcher(mpi.name), asked) if mpi else []
    except LauncherError:
        return []


def _show_gains(compared: Compared) -> None:
    for what, times in (("tuned while it runs", compared.tuned_s), ("tuned from the file", compared.loaded_s)):
        if not times:
            continue
        middle, half, is_clear = compared.gain(times)
        gain = f"{abs(middle):.1%} ± {half:.1%} {'faster' if middle >= 0 else 'slower'}"
        if is_clear:
            print(f"The program {what} is {gain}.")
        else:
            print(f"The program {what}: no difference that can be told from noise ({gain}).")
