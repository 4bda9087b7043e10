"""The C++ description of an evaluator has the fields of its kind, and of no other."""

import pytest

from culmen import _core

pytestmark = pytest.mark.no_numbers

FIELDS = {
    "function": set(),
    "python": {"target", "pickle", "interpreter", "batch"},
    "library": {"target"},
    "command": {"command", "keep", "json_stdin"},
    "items": {"pickle", "interpreter"},
}


def spec_of(kind):
    spec = _core.EvaluatorSpec()
    spec.kind = kind
    return spec


@pytest.mark.parametrize("kind", FIELDS)
def test_a_kind_has_its_fields_alone(kind):
    spec = spec_of(kind)
    assert spec.kind == kind
    for name in set().union(*FIELDS.values()):
        if name in FIELDS[kind]:
            setattr(spec, name, getattr(spec, name))
        else:
            with pytest.raises(
                AttributeError, match=rf'^an evaluator of kind "{kind}" (has no {name}|does not have it)$'
            ):
                getattr(spec, name)


def test_the_same_kind_again_keeps_its_fields_and_another_begins_anew():
    spec = spec_of("python")
    spec.target, spec.batch, spec.time_limit_s = "model:f", 3, 2.5
    spec.kind = "python"
    assert (spec.target, spec.batch) == ("model:f", 3)
    spec.kind = "library"
    assert (spec.target, spec.time_limit_s) == ("", 2.5)


def test_only_a_command_has_templates_inputs_and_figures():
    spec = spec_of("python")
    for add in (
        lambda: spec.add_template("in", b"{{x}}"),
        lambda: spec.add_input("/a", "a", False),
        lambda: spec.add_figure("e", "", "last_word", "", False),
    ):
        with pytest.raises(_core.InputError, match=r'^an evaluator of kind "python" is not a command$'):
            add()
