"""The parts of the benchmark: how time is counted, which optimizers are compared, and the goals."""

from __future__ import annotations

from dataclasses import dataclass

from .bars import Bar
from .measure import Mode

COLUMNS = (
    "separable",
    "moderate",
    "ill-conditioned",
    "multimodal",
    "weak structure",
    "all",
    "targets",
    "busy",
)


@dataclass(frozen=True)
class Part:
    """The optimizers in `players` run; the runs of those in `stored` are read from peers/bbob.json."""

    title: str
    mode: Mode
    dimensions: tuple[int, ...]
    players: tuple[str, ...]
    stored: tuple[str, ...]
    bars: tuple[Bar, ...]


def peers(names: str) -> tuple[str, ...]:
    return tuple(f"peer:{name}" for name in names.split())


def both(player: str, column: str, stated: tuple[float, float] | None, rivals: str = "") -> tuple[Bar, Bar]:
    """In 5 and in 20 dimensions."""
    five, twenty = stated or (None, None)
    return Bar(player, 5, column, five, rivals), Bar(player, 20, column, twenty, rivals)


_ASYNCHRONOUS, _AUTO_ASYNCHRONOUS = "cmaes:generational=false", "auto:generational=false"
_IN_STEPS = ("auto:parallel=400", "cmaes:parallel=400")
PARTS = {
    "serial": Part(
        "one evaluation at a time, 1000 D evaluations",
        Mode(),
        (5, 20),
        ("auto", "cmaes", "bfgs", "de", "swarm", "evolution", *peers("pycma slsqp random")),
        peers(
            "slsqp-pycma lbfgsb bobyqa mlsl-bobyqa sbplx nelder-mead powell arrde lshade de1220 sade scipy-de "
            "minion-pso pso pso-gen minion-bipop xnes sga one-plus-one bee-colony dual-annealing pagmo-annealing"
        ),
        (
            *both("auto", "all", (0.250, 0.165), "any"),
            *both("auto", "targets", (0.66, 0.53), "any"),
            *both("auto", "multimodal", (0.150, 0.095)),
            *both("auto", "all", (0.294, 0.197), "oracle"),
            *both("cmaes", "all", (0.182, 0.099), "cma"),
            *both("cmaes", "targets", (0.66, 0.53), "cma"),
            *both("de", "all", (0.133, 0.052), "de"),
            *both("swarm", "all", (0.094, 0.049), "swarm"),
            *both("evolution", "all", (0.086, 0.044), "evolution"),
        ),
    ),
    "noise": Part(
        "relative noise of 1 %, 1000 D evaluations",
        Mode(noise=0.01),
        (5, 20),
        ("auto", "cmaes"),
        peers("pycma"),
        (*both("auto", "all", None, "cma"), *both("auto", "targets", None, "cma")),
    ),
    "small": Part(
        "one evaluation at a time, 50 D evaluations",
        Mode(budget=50),
        (5,),
        ("auto", "bayes", "bfgs", "cmaes", *peers("pycma slsqp random")),
        peers("slsqp-pycma lbfgsb bobyqa cobyqa lq-cma ngopt tpe minion-bipop arrde"),
        (Bar("auto", 5, "all", 0.105, "any"), Bar("bayes", 5, "all", 0.105, "surrogate")),
    ),
    "steps": Part(
        "400 candidates at a time, 250 steps",
        Mode(step=400),
        (20,),
        _IN_STEPS,
        peers("pycma pso-gen:400 de1220:400"),
        tuple(
            Bar(player, 20, column, stated, "any")
            for player in _IN_STEPS
            for column, stated in (("all", 0.16), ("weak structure", 0.111), ("sphere", 100))
        ),
    ),
    **{
        f"clock {sigma:g}": Part(
            f"100 workers on a virtual clock, σ = {sigma:g}",
            Mode(sigma=sigma),
            (10,),
            (_AUTO_ASYNCHRONOUS, _ASYNCHRONOUS, f"{_ASYNCHRONOUS},stale=ignored"),
            peers("pycma pycma-arrivals"),
            tuple(
                Bar(player, 10, column, least, rivals)
                for player in (_ASYNCHRONOUS, _AUTO_ASYNCHRONOUS)
                for column, least, rivals in (("all", stated, "any"), ("busy", 0.98, ""))
            ),
        )
        for sigma, stated in ((0.0, 0.20), (0.5, 0.25), (1.0, 0.27))
    },
}
