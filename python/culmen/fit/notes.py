"""Remarks on errors: sentences without a full stop."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from .. import _core
from ..base.text import shown
from .covariance import Covariance
from .frame import Array
from .minimum import Stand
from .profile import Profiles
from .rays import BEYOND_LIMIT

_FAR = 0.01  # of Δ: the best candidate is this far above the minimum that its derivatives predict
_UNCERTAIN = 0.03


@dataclass(frozen=True)
class Way:
    """The words for a value that is minimized, or maximized."""

    direction: str

    @property
    def maximized(self) -> bool:
        return self.direction == "maximize"

    @property
    def optimum(self) -> str:
        return "maximum" if self.maximized else "minimum"

    @property
    def fall(self) -> str:
        return "rise" if self.maximized else "fall"

    @property
    def falls(self) -> str:
        return "rises" if self.maximized else "falls"

    @property
    def below(self) -> str:
        return "above" if self.maximized else "below"


def of_roughness(names: list[str], roughness: Array) -> list[str]:
    finite = [(r, name) for r, name in zip(roughness, names, strict=True) if r < math.inf]
    rough = [name for r, name in finite if r > _UNCERTAIN]
    if not rough:
        return []
    return [
        f"the evaluator's results are rough or strongly curved along {', '.join(rough)}: "
        f"the errors may be wrong by up to {max(finite)[0]:.0%}"
    ]


def of_directions(covariance: Covariance, of_value: bool, way: Way) -> list[str]:
    out = []
    for names in covariance.undetermined:
        single = len(names) == 1
        what = names[0] if single else f"{' and '.join([', '.join(names[:-1]), names[-1]])} separately"
        nothing = "it has no effect" if single else "one combination of them has no effect"
        if of_value:
            nothing += ", as far as second differences of the value show"
        out.append(f"the data do not determine {what}: {nothing}")
    for names in covariance.negative:
        out.append(f"this is not a {way.optimum}: the value {way.falls} along a direction of {', '.join(names)}")
    if covariance.doubt > _UNCERTAIN:
        out.append(
            f"the value is rough, or parameters are strongly correlated: the errors may be wrong by up to "
            f"{covariance.doubt:.0%}"
        )
    return out


def of_stand(found: Stand, up: float, way: Way, limited: bool) -> list[str]:
    """``limited``: an evaluation for the derivatives violated a limit."""
    out = []
    if found.normals:
        out.append(
            f"the fit lies at the constraint {' and '.join(found.normals)}, beyond which the value would "
            f"{way.fall} by about {found.gain:.2g}; the errors are for moves along it"
        )
    if found.distance > _FAR * up and limited:
        out.append(
            f"the fit lies at a limit: by its derivatives the value would {way.fall} by about {found.distance:.2g} "
            "without it; the errors ignore the limit"
        )
    elif found.distance > _FAR * up:
        out.append(
            f"the fit is not at its {way.optimum}, which is about {found.distance:.2g} {way.below} by the derivatives; "
            "more searches may come nearer; if the values have few digits, set the optimizer's option noise"
        )
    return out


def of_wide(names: Iterable[str], profiled: bool) -> list[str]:
    named = ", ".join(names)
    if not named:
        return []
    instead = "the profile intervals show" if profiled else "a profile shows"
    return [f"the error of {named} is wider than the bounds, so it means little; {instead} the range within them"]


def of_profiles(found: Profiles, space: _core.Space, given: float | None, way: Way) -> list[str]:
    """``given``: the value of the lower minimum in the user's sign."""
    out = []
    if found.lower_minimum:
        place = ", ".join(f"{name} = {shown(value)}" for name, value in space.named(found.lower_minimum[0]).items())
        out.append(f"the fit was not at the {way.optimum}: the profiles found {given:.10g} at {place}")
    if found.failure == BEYOND_LIMIT:
        out.append("the profiles reached a limit and stop there")
    elif found.failure:
        out.append(f"evaluations for the profiles failed, the first: {found.failure}")
    return out
