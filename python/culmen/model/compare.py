"""Places where measured times and analytic models differ, and a likely reason."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from .algorithms import WITHOUT_MODEL, model_of
from .measured import Place, Times
from .point_to_point import Network

FACTOR = 2.0  # a smaller difference is not worth a sentence
HEADINGS = ["collective", "algorithm", "points", "measured / predicted", "least", "greatest"]
_MANY = 0.25  # share of the places
_TREND = 1.5  # factor from the smallest to the largest size or number of ranks


@dataclass(frozen=True)
class Parted:
    """``ratios``: measured time / predicted time, of each place. ``ppn``: the most ranks on a node, for each number of
    ranks."""

    mpi: str
    collective: str
    algorithm: str
    ratios: dict[Place, float]
    ppn: dict[int, int]

    @property
    def median(self) -> float:
        return float(np.median(list(self.ratios.values())))

    @property
    def typical(self) -> float:
        """The median of the ratios that are too large, or of those that are too small; 1 if neither are many."""
        values = list(self.ratios.values())
        long, short = [r for r in values if r > FACTOR], [r for r in values if r < 1 / FACTOR]
        most = max(long, short, key=len)
        return float(np.median(most)) if len(most) >= _MANY * len(values) else 1.0

    def row(self) -> list[str]:
        """For HEADINGS."""
        values = list(self.ratios.values())
        numbers = [f"{x:.2g}" for x in (self.median, min(values), max(values))]
        return [self.collective, self.algorithm, str(len(values)), *numbers]

    def reason(self, cores: int | None) -> str:
        """Empty if the model is right within FACTOR. ``cores``: of a node, if they are known."""
        if self.typical == 1:
            return ""
        places = list(self.ratios)
        if self.typical > 1 and cores and np.median([self.ppn[place.ranks] for place in places]) > cores:
            several = any(each < ranks for ranks, each in self.ppn.items())
            return f"; with more ranks {'on a node ' if several else ''}than cores ({cores}), ranks wait for a CPU"
        by_ranks, by_size = self._trends()
        if max(abs(by_ranks), abs(by_size)) < np.log(_TREND):
            often = "a message costs more there than between two ranks"
            return f", for all sizes and ranks; {often if self.typical > 1 else 'messages overlap'}"
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
                ppn = {place.ranks: times.ppn[mpi, collective, place.ranks] for place in ratios}
                out.append(Parted(mpi, collective, algorithm, ratios, ppn))
    return out


def sentences(parted: Iterable[Parted], cores: int | None) -> list[str]:
    """One sentence for all algorithms of a collective that differ from their models for the same reason."""
    groups: dict[tuple[str, bool, str], list[Parted]] = {}
    for each in parted:
        if reason := each.reason(cores):
            groups.setdefault((each.collective, each.typical > 1, reason), []).append(each)
    out = []
    for (collective, longer, reason), same in groups.items():
        names, medians = ", ".join(each.algorithm for each in same), [each.typical for each in same]
        low, high = f"{min(medians):.2g}", f"{max(medians):.2g}"
        factor = low if low == high else f"{low} to {high}"
        times = f"{factor} times the time" if longer else f"only {factor} of the time"
        out.append(f"{collective} ({names}) often took {times} that the model predicts{reason}.")
    return out


def without_model(times: Times) -> dict[str, str]:
    """The algorithms without a model, and why."""
    names = {
        name for (_, collective), found in times.of.items() for name in found if model_of(collective, name) is None
    }
    return {name: WITHOUT_MODEL.get(name, "culmen does not know it") for name in sorted(names)}
