"""Several simulated runs of one study: the requested one, others with other numbers of workers, and others with other
networks."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from .. import _core
from .durations import Durations
from .network import as_table

EVALUATIONS_PER_WORKER = 5
_MOST_S = 90.0  # CPU time of one run besides the first
_SLICE_S = 0.05
_VARIED = {
    "latency": ("latency_s", "wake_s"),
    "bandwidth": ("bandwidth_bytes_s",),
    "cost of a message": ("message_s", "frame_s"),
}
_FACTORS = (0.1, 10.0)


@dataclass(frozen=True)
class Cluster:
    workers: int
    workers_per_node: int
    network: _core.NetworkModel
    durations: Durations
    function: str
    seed: int
    prefetch: bool = True
    master_s: float = -1.0  # see SimulationPlan

    def plan(self, workers: int, network: _core.NetworkModel | None = None) -> _core.SimulationPlan:
        plan = _core.SimulationPlan()
        plan.workers, plan.workers_per_node = workers, self.workers_per_node
        plan.network = network or self.network
        plan.function, plan.seed, plan.prefetch, plan.master_s = self.function, self.seed, self.prefetch, self.master_s
        self.durations.put(plan)
        return plan


@dataclass(frozen=True)
class Point:
    """A simulated run. ``whole``: whether it reached its end."""

    workers: int
    evaluations: int  # that were planned
    figures: _core.SimulationFigures
    whole: bool
    network: str = ""  # how it differs from the given one
    factor: float = 1.0


@dataclass
class Sweep:
    main: Point | None = None
    curve: list[Point] = field(default_factory=list)  # by workers
    variations: list[Point] = field(default_factory=list)  # the first one: nothing is varied
    stopped: bool = False


@dataclass(frozen=True)
class Step:
    """A run to simulate."""

    workers: int
    evaluations: int
    network: _core.NetworkModel | None = None
    varied: str = ""
    factor: float = 1.0


class Simulator:
    """Simulates one run after the other. ``config`` makes a new configuration for each run. From time to time,
    ``watch`` is called with the completed share of all work, and the number of workers of the current run."""

    def __init__(
        self, config: Callable[[], _core.StudyConfig], cluster: Cluster, watch: Callable[[float, int], None]
    ) -> None:
        self._config, self._cluster, self._watch = config, cluster, watch
        self._running: _core.Simulation | None = None
        self._stopped = False
        self.sweep = Sweep()

    def stop(self) -> None:
        """May be called by a signal handler."""
        self._stopped = True
        if self._running is not None:
            self._running.stop()

    def run(self, evaluations: int, most_workers: int) -> Sweep:
        """``most_workers``: the largest number of workers in the curve; 0: only the requested run.

        Raises InputError for a plan or a study that cannot be simulated, CulmenError if the optimizer fails."""
        main = Step(self._cluster.workers, evaluations)
        curve = list(self._curve(most_workers)) if most_workers else []
        variations = list(self._variations(evaluations)) if most_workers else []
        steps = [main, *curve, *variations]
        total, done = sum(step.evaluations for step in steps), 0
        for k, step in enumerate(steps):
            point = self._one(step, done, total, _MOST_S if k else float("inf"))
            if point is None:
                break
            if k == 0:
                self.sweep.main = point
            elif k <= len(curve):
                self.sweep.curve.append(point)
            else:
                self.sweep.variations.append(point)
            done += step.evaluations
        self.sweep.stopped = self._stopped
        return self.sweep

    def _curve(self, most: int) -> Iterator[Step]:
        for workers in sorted({*(10**k for k in range(2, 8)), self._cluster.workers}):
            if workers > max(most, self._cluster.workers):
                return
            yield Step(workers, workers * EVALUATIONS_PER_WORKER)

    def _variations(self, evaluations: int) -> Iterator[Step]:
        workers = self._cluster.workers
        evaluations = min(evaluations, workers * EVALUATIONS_PER_WORKER)
        yield Step(workers, evaluations)
        for varied, names in _VARIED.items():
            for factor in _FACTORS:
                yield Step(workers, evaluations, _scaled(self._cluster.network, names, factor), varied, factor)

    def _one(self, step: Step, done: int, total: int, most_s: float) -> Point | None:
        if self._stopped:
            return None
        config = self._config()
        config.evaluations = step.evaluations
        self._running = run = _core.Simulation(config, self._cluster.plan(step.workers, step.network))
        waited_s = 0.0
        while not run.wait(_SLICE_S):
            self._watch((done + run.evaluations) / total, step.workers)
            waited_s += _SLICE_S
            if waited_s > most_s or self._stopped:
                run.stop()
        figures = run.figures()
        self._running = None
        whole = figures.reason != "interrupted"
        if not figures.evaluations:
            return None
        return Point(step.workers, step.evaluations, figures, whole, step.varied, step.factor)


def _scaled(network: _core.NetworkModel, names: tuple[str, ...], factor: float) -> _core.NetworkModel:
    scaled = _core.NetworkModel()
    for name, value in as_table(network).items():
        setattr(scaled, name, value * (factor if name in names else 1.0))
    return scaled
