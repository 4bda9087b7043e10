"""``[space]``"""

from typing import Annotated, Any, Literal

from pydantic import model_validator

from ..problem.parameter import type_of
from .table import Setting, Table

_OF_NUMBERS = (
    "required; see [parameters without bounds](#parameters-without-bounds) and [fixed parameters](#fixed-parameters)"
)
_WITHOUT = "; a real parameter without it needs initial"


class ParameterTable(Table):
    type: Annotated[
        Literal["real", "integer", "ordinal", "categorical", "boolean"],
        Setting(
            "kind of the parameter",
            default='`"categorical"` with `choices`, otherwise `"real"`; see [fixed parameters](#fixed-parameters)',
            page="[see below](#types-of-parameters)",
        ),
    ] = "real"
    lower: Annotated[
        float | None,
        Setting("lowest allowed value of a real or integer parameter", default=_OF_NUMBERS),
    ] = None
    upper: Annotated[
        float | None,
        Setting("highest allowed value of a real or integer parameter", default=_OF_NUMBERS),
    ] = None
    scale: Annotated[
        Literal["linear", "log"],
        Setting('with `"log"`, the search uses the logarithm of the parameter. `lower` must then be positive'),
    ] = "linear"
    choices: Annotated[
        list[bool | int | float | str | None] | None,
        Setting(
            'list of strings, numbers, or true and false, for example `["ring", "tree"]`',
            default='required for `"ordinal"` and `"categorical"`, unless you give `value`',
        ),
    ] = None
    initial: Annotated[
        bool | int | float | str | None,
        Setting("value of the parameter in a starting point", page="[see below](#starts)"),
    ] = None
    value: Annotated[
        bool | int | float | str | None,
        Setting("the only value of the parameter, which is then fixed", page="[see below](#fixed-parameters)"),
    ] = None
    active_when: Annotated[
        str | None,
        Setting(
            "a condition on other parameters, as an [expression](expressions.md). If the condition is false for "
            "a candidate, the parameter is inactive: it has no value in this candidate",
            default="always",
        ),
    ] = None

    @model_validator(mode="before")
    @classmethod
    def _without_a_type(cls, given: Any) -> Any:
        if not isinstance(given, dict) or "type" in given:
            return given
        if "choices" in given:
            return {"type": "categorical", **given}
        if "value" in given and not {"lower", "upper", "scale"} & given.keys():
            return {"type": type_of(given["value"]), **given}
        return given

    @model_validator(mode="after")
    def _has_what_its_type_needs(self) -> "ParameterTable":
        chosen, bounded = self.type in ("ordinal", "categorical"), self.type in ("real", "integer")
        for key in ("lower", "upper") if bounded and self.value is None else ():
            if getattr(self, key) is None and (self.initial is None or self.type != "real"):
                raise ValueError(f"{key} is missing" + ("" if self.type != "real" else _WITHOUT))
        if chosen and not self.choices and (self.value is None or self.choices is not None):
            raise ValueError(f'choices is missing: type = "{self.type}" needs a list such as ["a", "b"]')
        wrong = [] if bounded else ["lower", "upper"] + (["scale"] if self.scale != "linear" else [])
        wrong += [] if chosen else ["choices"]
        for key in wrong:
            if getattr(self, key) is not None:
                raise ValueError(f'{key} is not for type = "{self.type}"')
        return self
