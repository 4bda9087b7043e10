"""Why the workers of a simulated run wait, and where the knee of the curve is."""

from .. import _core
from ..base.text import grouped
from .sweep import Point

_WELL_USED, _BUSY = 0.98, 0.9
_LINE = "the network connection of the master"


def limit_of(point: Point) -> str:
    """A few words; empty if the workers hardly wait."""
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
    return "workers wait for messages"


def loads_of(f: _core.SimulationFigures) -> dict[str, float]:
    return {
        "the master": f.master_load,
        "the store's thread": f.writer_load,
        _LINE: f.line_load,
        "a relay": f.relay_load,
    }


def knee_of(curve: list[Point]) -> str:
    """A sentence on where the curve bends, and why."""
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
    """The number of workers at which the part that limits ``bad`` is fully busy, from the load that it has at
    ``good``, which grows with the workers. 0: no part is busy."""
    name, load = max(loads_of(bad.figures).items(), key=lambda item: item[1])
    if load < _BUSY:
        return 0
    before = loads_of(good.figures)[name]
    reach = int(good.workers / before) if before > 0 else 0
    return round(reach, 2 - len(str(reach))) if good.workers < reach < bad.workers else 0
