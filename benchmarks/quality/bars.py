"""The goals of culmen's optimizers, and whether they are reached."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from rich.table import Table

from .bbob_peers import PEERS
from .measure import Score
from .problems import GROUPS
from .score import TARGETS, table

TIE = {5: 0.015, 20: 0.008}  # of areas, by dimension: the effect of another seed
TIED_TARGETS = 0.005  # goals for shares have two decimals
Scores = Mapping[tuple[str, int], Score]


@dataclass(frozen=True)
class Bar:
    """A goal. column: a group, "all", "targets", "busy", or "sphere" (the time of its last target; less is better).

    stated: the goal as a number, from the project's own measurements of 23 peers. rivals: the peers whose best is a
    further goal. They are a family of peers, "any" peer, or the "oracle", which uses the best peer for each function.
    """

    player: str
    dimension: int
    column: str
    stated: float | None = None
    rivals: str = ""

    def reached(self, figure: float, bar: float | None) -> str:
        if bar is None:
            return ""
        if figure <= bar if self.column == "sphere" else figure >= bar:
            return "[green]reached[/]"
        margin = TIED_TARGETS if self.column == "targets" else 0.0
        if self.column in GROUPS or self.column == "all":
            margin = TIE.get(self.dimension, 0.0)
        return "tie" if figure > bar - margin else "[red]missed[/]"


def figure(score: Score, column: str) -> float:
    if column != "sphere":
        return score.figures[column]
    runs = [times for which, times in score.times.items() if which.function == 1]
    return max(times[-1] if len(times) == len(TARGETS) else math.inf for times in runs)


def whole(scores: Scores, dimension: int) -> dict[str, Score]:
    """The peers with runs on the largest number of problems."""
    peers = {player: score for (player, d), score in scores.items() if d == dimension and player.startswith("peer:")}
    most = max((len(score.times) for score in peers.values()), default=0)
    return {player: score for player, score in peers.items() if len(score.times) == most}


def oracle(peers: Mapping[str, Score]) -> dict[str, float]:
    """Areas by group, with the best peer for each function."""
    best: dict[int, dict[str, float]] = {}
    for player, score in peers.items():
        areas = score.areas
        for f in {which.function for which in areas}:
            mine = [area for which, area in areas.items() if which.function == f]
            best.setdefault(f, {})[player] = sum(mine) / len(mine)
    chosen = {f: max(by_player, key=lambda p: by_player[p]) for f, by_player in best.items()}
    return table({w: a for f, player in chosen.items() for w, a in peers[player].areas.items() if w.function == f})


def best_rival(bar: Bar, scores: Scores) -> tuple[str, float] | None:
    peers = whole(scores, bar.dimension)
    if bar.rivals == "oracle":
        return ("oracle", oracle(peers)[bar.column]) if peers else None
    names = [p for p in peers if bar.rivals == "any" or PEERS[_base(p)].family == bar.rivals]
    found = {p: figure(peers[p], bar.column) for p in names if bar.rivals}
    if not found:
        return None
    best = (min if bar.column == "sphere" else max)(found, key=lambda p: found[p])
    return best.removeprefix("peer:"), found[best]


def _base(player: str) -> str:
    """pycma for peer:pycma-arrivals, de1220 for peer:de1220:400."""
    name = player.removeprefix("peer:").partition(":")[0]
    return name if name in PEERS else name.partition("-")[0]


def shown(value: float) -> str:
    return f"{value:.3f}" if value <= 1 else f"{value:g}"


def there(score: Score, peers: Mapping[str, Score]) -> Score:
    """The score on the problems for which the peers have runs."""
    problems = next(iter(peers.values())).times
    times = {which: t for which, t in score.times.items() if which in problems}
    return Score(score.horizon, times, score.busy)


def judged(bars: tuple[Bar, ...], scores: Scores) -> Table:
    out = Table("optimizer", "D", "column", "figure", "goal", "", "best peer", "", title="Goals")
    for bar in bars:
        score = scores[bar.player, bar.dimension]
        mine = figure(score, bar.column)
        theirs = ("", "")
        if rival := best_rival(bar, scores):
            score_there = there(score, whole(scores, bar.dimension))
            beside = figure(score_there, bar.column)
            runs = len(score_there.times)
            fewer = "" if runs == len(score.times) else f" (on its {runs} problems: {shown(beside)})"
            theirs = (f"{shown(rival[1])} {rival[0]}{fewer}", bar.reached(beside, rival[1]))
        stated = "" if bar.stated is None else f"{bar.stated:g}"
        row = (bar.player, str(bar.dimension), bar.column, shown(mine), stated)
        out.add_row(*row, bar.reached(mine, bar.stated), *theirs)
    return out
