"""``[space]``"""

from typing import Annotated, Any, Literal

from pydantic import model_validator

from .table import Setting, Table

_OF_NUMBERS = "required for reals and integers"


class ParameterTable(Table):
    type: Annotated[
        Literal["real", "integer", "ordinal", "categorical", "boolean"],
        Setting(
            '`"real"`, `"integer"`, `"ordinal"` (choices with an order), `"categorical"` (choices without an order), '
            '`"boolean"`'
        ),
    ] = "real"
    lower: Annotated[
        float | None, Setting("lowest allowed value, in the unit of the parameter", default=_OF_NUMBERS)
    ] = None
    upper: Annotated[
        float | None, Setting("highest allowed value, in the unit of the parameter", default=_OF_NUMBERS)
    ] = None
    scale: Annotated[
        Literal["linear", "log"],
        Setting('`"log"`: the parameter varies by orders of magnitude; `lower` must be > 0, for an integer ≥ 1'),
    ] = "linear"
    choices: Annotated[
        list[int | float | str] | None,
        Setting(
            'strings or numbers: `choices = ["ring", "tree"]`; you may then omit `type`',
            default="required for ordinals and categoricals",
        ),
    ] = None
    initial: Annotated[
        bool | int | float | str | None,
        Setting(
            "where the search starts. If any parameter has it, this point is evaluated first; the other parameters "
            "take the middle of their range"
        ),
    ] = None
    active_when: Annotated[
        str | None,
        Setting(
            "an [expression](expressions.md) over other parameters. If it is false, the evaluation does not "
            "receive this parameter",
            default="always",
        ),
    ] = None

    @model_validator(mode="before")
    @classmethod
    def _choices_without_a_type(cls, given: Any) -> Any:
        if isinstance(given, dict) and "choices" in given and "type" not in given:
            return {"type": "categorical", **given}
        return given

    @model_validator(mode="after")
    def _has_what_its_type_needs(self) -> "ParameterTable":
        chosen, bounded = self.type in ("ordinal", "categorical"), self.type in ("real", "integer")
        for key in ("lower", "upper"):
            if bounded and getattr(self, key) is None:
                raise ValueError(f"{key} is missing")
        if chosen and not self.choices:
            raise ValueError(f'choices is missing: type = "{self.type}" needs a list such as ["a", "b"]')
        wrong = [] if bounded else ["lower", "upper"] + (["scale"] if self.scale != "linear" else [])
        wrong += [] if chosen else ["choices"]
        for key in wrong:
            if getattr(self, key) is not None:
                raise ValueError(f'{key} is not for type = "{self.type}"')
        return self
