"""``[space]``"""

from typing import Any, Literal

from pydantic import model_validator

from .table import Table


class ParameterTable(Table):
    type: Literal["real", "integer", "ordinal", "categorical", "boolean"] = "real"
    lower: float | None = None
    upper: float | None = None
    scale: Literal["linear", "log"] = "linear"
    choices: list[int | float | str] | None = None
    initial: bool | int | float | str | None = None
    active_when: str | None = None

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
                raise ValueError(f'{key} does not belong to type = "{self.type}"')
        return self
