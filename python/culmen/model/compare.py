"""Where measured times and the analytic models part, and a likely reason."""

from dataclasses import dataclass

import numpy as np

from .algorithms import WITHOUT_MODEL, model_of
from .measured import Place, Times
from .point_to_point import Network

FACTOR = 2.0  # a smaller difference is not worth a sentence
HEADINGS = ["collective", "algorithm", "points", "measured / predicted", "least", "greatest"]
_TREND = 1.5  # factor from the smallest to the largest size or number of ranks


@dataclass(frozen=True)
class Parted:
    """``ratios``: measured time / predicted time, of each place."""

    mpi: str
    collective: str
    algorithm: str
    ratios: dict[Place, float]

    @property
    def median(self) -> float:
        return float(np.median(list(self.ratios.values())))

    def row(self) -> list[str]:
        """For HEADINGS."""
        values = list(self.ratios.values())
        numbers = [f"{x:.2g}" for x in (self.median, min(values), max(values))]
        return [self.collective, self.algorithm, str(len(values)), *numbers]

    def sentence(self, cores: int | None) -> str:
        """Empty if the model is right within FACTOR. ``cores``: of the machine, if it is known."""
        if 1 / FACTOR <= self.median <= FACTOR:
            return ""
        times = f"{self.median:.2g} times the time" if self.median > 1 else f"only {self.median:.2g} of the time"
        return f"{self.collective}, {self.algorithm}: it took {times} that the model predicts{self._reason(cores)}."

    def _reason(self, cores: int | None) -> str:
        places = list(self.ratios)
        if self.median > 1 and cores and np.median([place.ranks for place in places]) > cores:
            return f"; with more ranks than cores ({cores}), ranks wait for a CPU"
        by_ranks, by_size = self._trends()
        if max(abs(by_ranks), abs(by_size)) < np.log(_TREND):
            often = "a message costs more there than between two ranks"
            return f", for all sizes and ranks; {often if self.median > 1 else 'messages overlap'}"
        if abs(by_ranks) >= abs(by_size):
            more = "messages of several ranks disturb each other" if by_ranks > 0 else "messages overlap"
            return f", and the factor {'grows' if by_ranks > 0 else 'falls'} with the ranks; {more}"
        more = "the ranks share the bandwidth" if by_size > 0 else "large messages overlap, or small ones cost more"
        return f", and the factor {'grows' if by_size > 0 else 'falls'} with the size; {more}"

    def _trends(self) -> tuple[float, float]:
        """The change of the logarithm of the ratio from the least to the greatest number of ranks, and size."""
        places = list(self.ratios)
        ranks, sizes = np.log([p.ranks for p in places]), np.log([p.size + 1 for p in places])
        design = np.stack([np.ones(len(places)), ranks, sizes], axis=1)
        slopes = np.linalg.lstsq(design, np.log(list(self.ratios.values())), rcond=None)[0]
        return float(slopes[1] * np.ptp(ranks)), float(slopes[2] * np.ptp(sizes))


def compare(times: Times, networks: dict[str, Network]) -> list[Parted]:
    """Of each algorithm that has a model. ``networks``: of each MPI."""
    out = []
    for (mpi, collective), algorithms in times.of.items():
        for algorithm, places in algorithms.items():
            model = model_of(collective, algorithm)
            if model is None or mpi not in networks:
                continue
            net = networks[mpi]
            predicted = {place: model(*place).time(net.send, net.reduce_s) for place in places}
            ratios = {place: places[place] / t for place, t in predicted.items() if t > 0}
            if ratios:
                out.append(Parted(mpi, collective, algorithm, ratios))
    return out


def without_model(times: Times) -> dict[str, str]:
    """The algorithms without a model, and why."""
    names = {
        name for (_, collective), found in times.of.items() for name in found if model_of(collective, name) is None
    }
    return {name: WITHOUT_MODEL.get(name, "culmen does not know it") for name in sorted(names)}
