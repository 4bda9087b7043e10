"""``culmen tune cluster --variables``: a race for each variable, a comparison in fresh launches, and the memory."""

import json
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..._core import InputError
from ...base.exit_codes import RESUMABLE
from ...base.text import lasted, plural
from ...bench.conversation import LostError
from ...bench.kept import KeptStore, remove_measurements
from ...bench.parts import for_evaluators
from ...bench.session import Session
from ...bench.stopping import StoppedError
from ...bench.study import KeptStudy, PointStudy
from ...bench.verdict import in_turns
from ...launch.kernel import socket_limit
from ...launch.mpi.collectives import DEFAULT
from ...launch.mpi.variables import TRANSPORT, Variable, environment_of
from ...report.reading import read
from ...run.progress.figures import Words
from ...run.progress.monitor import make_monitor
from ...study_file import StudyFile, checked
from ..rules.reader import reader_of_rules
from . import setting_gains as gains
from .accepted import Asked, ask, shown_default
from .limits import largest_buffer, needed_limit, raised_to
from .pairs import LAUNCHES, Gain
from .setting_gains import Memory, Row, SpotGain, Tried, TunedVariables
from .setting_launch import Spot, file_of_launch, times_of
from .variables_asked import ROUNDS, VariableTuning
from .variables_files import ENVIRONMENT, RESULT, write_result
from .variables_seen import memory_of, tried_in

COMMAND = "culmen tune cluster --variables"
_STORE = "variables-{}.db"
_MODULE = "culmen.tune.cluster.setting_launch"
_LEAST_ROUNDS = 4


class VariableTuner:
    """``folder``: for the results. ``scratch``: see KeptStore. ``limits``: keeps the kernel's limits raised. Use it in
    a ``with`` statement."""

    def __init__(
        self, wanted: VariableTuning, folder: Path, quiet: bool, scratch: Path | None, limits: ExitStack
    ) -> None:
        self._wanted, self._folder, self._quiet, self._scratch = wanted, folder, quiet, scratch
        self._open = ExitStack()
        self._tried: list[Tried] = []
        self._launches = 0
        self._limits, self._limit_before = limits, 0

    def __enter__(self) -> "VariableTuner":
        for_evaluators(self._folder)
        return self

    def __exit__(self, *error: Any) -> None:
        self._open.__exit__(*error)

    def tune(self) -> TunedVariables:
        """Raises StoppedError if a signal came; the same command then continues."""
        asked, version = self._ask()
        title = self._wanted.launcher.mpi.title
        self._say(f"{title}: variables; this takes at most about {lasted(self._wanted.most_s())} without other work")
        rows, setting = self._race(asked)
        rows, whole, spots, chosen = self._compare(rows, setting, asked)
        memory = self._memory(asked) if TRANSPORT in self._wanted.groups else []
        environment = environment_of(chosen, asked.variables)
        out = TunedVariables(
            version, self._wanted.ranks, asked.nodes, list(self._wanted.groups), rows, environment, whole, spots,
            self._tried, memory, self._launches, needed_limit(chosen, asked.variables, self._limit_before),
        )  # fmt: skip
        write_result(out, self._folder)
        return out

    def _ask(self) -> tuple[Asked, str]:
        wanted, launcher = self._wanted, self._wanted.launcher
        without = reader_of_rules(launcher).without_rules
        try:
            with Session(launcher, wanted.ranks, wanted.timeout_s, without, wanted.mapping) as session:
                limit = self._limit(session.nodes()[0])
                return ask(launcher, session, wanted.groups, limit), session.version
        except LostError as error:
            raise InputError(
                f"{plural(wanted.ranks, 'rank')} of {launcher.mpi.title} cannot be started here: {error}"
            ) from None

    def _limit(self, nodes: int) -> int:
        """The kernel's limit of a socket buffer in bytes; 0 if it is unknown. If this is allowed, raises the limit
        first."""
        most = largest_buffer(self._wanted.launcher.mpi.variables, self._wanted.groups)
        if not self._wanted.allow_sysctl or not most:
            return socket_limit()
        self._limit_before = self._limits.enter_context(raised_to(most, self._wanted.launcher, nodes))
        return max(most, self._limit_before)

    def _race(self, asked: Asked) -> tuple[list[Row], dict[str, str]]:
        """The best value of each variable. The races of later variables use the best values of the earlier ones."""
        setting: dict[str, str] = {}
        by_name = {each.name: each for each in asked.variables}
        rows = []
        for variable in self._wanted.launcher.mpi.variables:
            if variable.group not in self._wanted.groups:
                continue
            default = shown_default(variable.name, asked.defaults)
            why, best = "no value can be tried", DEFAULT
            if variable.name in by_name:
                if variable.has_effect(setting.get(TRANSPORT, DEFAULT), asked.nodes):
                    best, why = self._best_of(by_name[variable.name], setting), "no value was better in the race"
                else:
                    why = "it has no effect with this transport"
            rows.append(Row(variable.name, variable.group, default, DEFAULT, why, best))
            if best != DEFAULT:
                setting[variable.name] = best
        self._tried += [Tried(name, value, failed=why) for (name, value), why in asked.refused.items()]
        return rows, setting

    def _best_of(self, variable: Variable, setting: Mapping[str, str]) -> str:
        values = [DEFAULT, *variable.values]
        tables = {
            "name": "tune cluster variables",
            "space": {"choice": {"type": "categorical", "choices": values}}
            | {
                name: {"value": value}
                for name, value in {
                    **self._wanted.fixed(),
                    "variable": variable.name,
                    "setting": json.dumps(dict(setting), sort_keys=True),
                }.items()
            },
            "starts": [{"choice": DEFAULT}],
            "evaluator": {"python": f"{_MODULE}:measure", "time_limit_s": self._limit_s()},
            "optimizer": {
                "name": "racing",
                "generational": True,
                "most_rounds": ROUNDS,
                "rounds_before_test": _LEAST_ROUNDS,
                "rounds_to_confirm": _LEAST_ROUNDS,
            },
            "stop": {"evaluations": ROUNDS * len(values)},
            "run": {"workers": 1, "prefetch": False},
        }
        store = self._store(f"race-{variable.name}")
        study = KeptStudy(checked(StudyFile, tables, COMMAND), Path.cwd(), COMMAND, store, "values")
        self._say(f"Race of {variable.name}: {plural(len(values) - 1, 'value')} and the default")
        study.open()
        result = study.conduct(self._monitor, RESUMABLE)
        if result.reason == "interrupted":
            raise StoppedError
        found = read(store)
        self._launches += len(found.columns["choice"])
        self._tried += tried_in(found, variable)
        best = str(result.recommended.params["choice"]) if result.recommended else DEFAULT
        return gains.best_of([each for each in self._tried if each.variable == variable.name], best)

    def _compare(
        self, rows: list[Row], setting: dict[str, str], asked: Asked
    ) -> tuple[list[Row], Gain | None, list[SpotGain], dict[str, str]]:
        """Compares in fresh launches, and removes variables until the setting is faster with each variable than without
        it."""
        number = 0
        while setting:
            number += 1
            times = self._in_turns(setting, number)
            found = gains.judged(setting, times)
            rows = [gains.row_after(row, found) for row in rows]
            kept = {name: value for name, value in setting.items() if not found[name][1]}
            for name in gains.without_effect(kept, asked.variables, asked.nodes):
                del kept[name]
                rows = [_without(row) if row.variable == name else row for row in rows]
            if kept == setting:
                before, after = times[gains.OWN], times[gains.WHOLE]
                return rows, gains.gain_over(before, after), gains.spot_gains(before, after), setting
            setting = kept
        return rows, None, [], {}

    def _in_turns(self, setting: dict[str, str], number: int) -> dict[str, list[dict[Spot, float]]]:
        kinds = gains.kinds_of(setting)
        order = in_turns(list(kinds), LAUNCHES, seed=number)
        points = [{"setting": json.dumps(kinds[kind], sort_keys=True), "kind": kind} for kind in order]
        fixed = self._wanted.fixed() | {"name": f"fresh-{number}"}
        self._say(f"Fresh launches of {' and '.join(setting)}: {len(points)}")
        self._measure(points, fixed, "measure", f"fresh-{number}")
        out: dict[str, list[dict[Spot, float]]] = {kind: [] for kind in kinds}
        for place, kind in enumerate(order):
            out[kind].append(times_of(file_of_launch(f"fresh-{number}-{place}", self._folder)))
        return out

    def _memory(self, asked: Asked) -> list[Memory]:
        """The memory with the MPI's own transport, and with each transport that can be tried."""
        values = [value for each in asked.variables if each.name == TRANSPORT for value in each.values]
        counts = sorted({max(2, self._wanted.ranks // 2), self._wanted.ranks})
        launches = [(value, ranks) for value in (DEFAULT, *values) for ranks in counts]
        points = [
            {"setting": json.dumps({} if value == DEFAULT else {TRANSPORT: value}), "number_of_ranks": ranks}
            for value, ranks in launches
        ]
        fixed = {name: value for name, value in self._wanted.fixed().items() if name in ("mpi", "timeout_s")}
        self._say(f"Memory of {plural(len(values) + 1, 'transport')}")
        store = self._measure(points, fixed, "measure_memory", "memory")
        found = read(store)
        by_number = {int(number): k for k, number in enumerate(found.columns["number"])}
        out = []
        for value in (DEFAULT, *values):
            there = [by_number[number] for number, (of, _) in enumerate(launches) if of == value]
            out.append(memory_of(value, found, there, counts))
        return out

    def _measure(self, points: Sequence[Mapping[str, Any]], fixed: dict[str, Any], evaluator: str, name: str) -> Path:
        store = self._store(name)
        study = PointStudy(COMMAND, points, fixed, f"{_MODULE}:{evaluator}", self._limit_s(), store)
        if study.open() < len(points) and not study.run(self._monitor, RESUMABLE, len(points)):
            raise StoppedError
        self._launches += len(points)
        return store

    def _limit_s(self) -> float:
        return 60.0 + 10 * self._wanted.launch_s() + 3 * self._wanted.timeout_s

    def _store(self, name: str) -> Path:
        return self._open.enter_context(KeptStore(self._folder / _STORE.format(name), self._scratch)).place

    def _monitor(self) -> Any:
        return make_monitor(not self._quiet, Words("launches measured", best=""))

    def _say(self, line: str) -> None:
        if not self._quiet:
            print(line, flush=True)


def _without(row: Row) -> Row:
    return replace(row, value=DEFAULT, why="it has no effect with this transport")


def stores_in(folder: Path) -> list[Path]:
    return sorted(folder.glob(_STORE.format("*")))


def remove_results(folder: Path) -> None:
    remove_measurements(*stores_in(folder))
    for name in (RESULT, ENVIRONMENT):
        (folder / name).unlink(missing_ok=True)
