"""What is to be said of errors besides their figures: sentences without a full stop."""

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

_FAR = 0.01  # of Δ: the best candidate is this far above the minimum that its derivatives point to
_UNCERTAIN = 0.03


@dataclass(frozen=True)
class Way:
    """Words for what is minimized, or maximized."""

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
        f"the evaluator's figures are rough or strongly curved along {', '.join(rough)}: "
        f"the errors may be wrong by up to {max(finite)[0]:.0%}"
    ]


def of_directions(covariance: Covariance, of_value: bool, way: Way) -> list[str]:
    out = []
    for names in covariance.undetermined:
        single = len(names) == 1
        what = names[0] if single else f"{' and '.join([', '.join(names[:-1]), names[-1]])} apart"
        nothing = "nothing depends on it" if single else "nothing depends on one combination of them"
        if of_value:
            nothing += ", as far as second differences of the value show"
        out.append(f"the data do not determine {what}: {nothing}")
    for names in covariance.negative:
        out.append(f"this is no {way.optimum}: the value {way.falls} along a direction of {', '.join(names)}")
    if covariance.doubt > _UNCERTAIN:
        out.append(
            f"the value is rough, or parameters hang together closely: the errors may be wrong by up to "
            f"{covariance.doubt:.0%}"
        )
    return out


def of_stand(found: Stand, up: float, way: Way, limited: bool) -> list[str]:
    """``limited``: the derivatives met a limit."""
    out = []
    if found.normals:
        out.append(
            f"the fit lies at the constraint {' and '.join(found.normals)}, beyond which the value would "
            f"{way.fall} by about {found.gain:.2g}; the errors are for moves along it"
        )
    if found.distance > _FAR * up and limited:
        out.append(
            f"the fit lies at a limit: by the derivatives the value would {way.fall} by about {found.distance:.2g} "
            "without it; the errors do not account for it"
        )
    elif found.distance > _FAR * up:
        out.append(
            f"the fit is not at its {way.optimum}: by the derivatives that is about {found.distance:.2g} {way.below}; "
            f"more evaluations would come nearer"
        )
    return out


def of_wide(names: Iterable[str], profiled: bool) -> list[str]:
    named = ", ".join(names)
    if not named:
        return []
    instead = "the intervals of the profile say" if profiled else "a profile says"
    return [f"the error of {named} reaches beyond both bounds and means little; {instead} what is known within them"]


def of_profiles(found: Profiles, space: _core.Space, given: float | None, way: Way) -> list[str]:
    """``given``: the value of the lower minimum as the user knows it."""
    out = []
    if found.lower_minimum:
        place = ", ".join(f"{name} = {shown(value)}" for name, value in space.named(found.lower_minimum[0]).items())
        out.append(f"the fit was not at the {way.optimum}: the profiles met {given:.10g} at {place}")
    if found.failure == BEYOND_LIMIT:
        out.append("the profiles met a limit, beyond which they do not go")
    elif found.failure:
        out.append(f"evaluations of the profiles failed, the first: {found.failure}")
    return out
