"""Why the workers of a simulated run wait, and the number of workers at which the curve bends."""

from .. import _core
from ..base.text import grouped
from .sweep import EVALUATIONS_PER_WORKER, Point

_WELL_USED, _BUSY = 0.98, 0.9
_MESSAGES = "workers wait for messages"
_FEW = 20  # evaluations of each worker, of which the last ones matter
_LINE = "the network connection of the master"


def limit_of(point: Point) -> str:
    """The reason why workers wait, in a few words; empty if they hardly wait."""
    f = point.figures
    if point.evaluations <= point.workers and f.most_running < point.workers:
        return f"only {grouped(point.evaluations)} evaluations"
    if f.steady_utilisation >= _WELL_USED:
        return ""
    busiest, load = max(loads_of(f).items(), key=lambda item: item[1])
    if load >= _BUSY:
        return f"{busiest} is {'fully used' if busiest == _LINE else 'busy'}"
    if f.most_running < _WELL_USED * point.workers:
        return f"the optimizer proposes at most {grouped(f.most_running)} candidates at once"
    if f.generational:
        return "generations wait for their slowest evaluation"
    return _MESSAGES


def limit_of_study(point: Point) -> str:
    """The same for the run of the study itself, which may be too short for this number of workers."""
    reason, each = limit_of(point), point.evaluations / point.workers
    is_short = point.evaluations > point.workers and each < _FEW and point.figures.utilisation < _BUSY
    if is_short and reason in ("", _MESSAGES):
        return (
            f"{grouped(point.evaluations)} evaluations are only {each:.2g} for each worker: they wait for the last ones"
        )
    return reason


def loads_of(f: _core.SimulationFigures) -> dict[str, float]:
    return {
        "the master": f.master_load,
        "the store's thread": f.writer_load,
        _LINE: f.line_load,
        "a relay": f.relay_load,
    }


def shortage_of(curve: list[Point], evaluations: int) -> str:
    """A sentence if the study has too few evaluations for the numbers of workers in the curve. In the curve, each
    worker makes EVALUATIONS_PER_WORKER."""
    short = [point for point in curve if evaluations < EVALUATIONS_PER_WORKER * point.workers]
    if not short:
        return ""
    first = short[0].workers
    return (
        f"The study itself has {grouped(evaluations)} evaluations. From {grouped(first)} workers on, these are fewer "
        f"than {EVALUATIONS_PER_WORKER} for each, and its utilisation is lower than in this table."
    )


def knee_of(curve: list[Point]) -> str:
    """A sentence about the number of workers at which the curve bends, and the reason."""
    good = [point for point in curve if point.figures.steady_utilisation >= _BUSY]
    bent = [point for point in curve if point.figures.steady_utilisation < _BUSY]
    if not curve:
        return ""
    if not bent:
        return f"Up to {grouped(curve[-1].workers)} workers, workers hardly wait: there is no knee."
    first = bent[0]
    reason = limit_of(first) or "the workers wait"
    if good and good[-1].workers > first.workers:
        return ""
    where = f"Up to {grouped(good[-1].workers)} workers" if good else f"Already at {grouped(first.workers)} workers"
    if not good:
        return f"{where}, the utilisation is below {_BUSY * 100:.0f} %: {reason}."
    knee = _reach(good[-1], first)
    at = f"at about {grouped(knee)} workers" if knee else f"between this and {grouped(first.workers)} workers"
    return f"{where}, the utilisation is at least {_BUSY * 100:.0f} %. The knee is {at}: {reason}."


def _reach(good: Point, bad: Point) -> int:
    """The estimated number of workers at which the part that limits ``bad`` is fully busy. The load of this part at
    ``good`` is assumed to grow with the number of workers. 0: no part is busy."""
    name, load = max(loads_of(bad.figures).items(), key=lambda item: item[1])
    if load < _BUSY:
        return 0
    before = loads_of(good.figures)[name]
    reach = int(good.workers / before) if before > 0 else 0
    return round(reach, 2 - len(str(reach))) if good.workers < reach < bad.workers else 0
