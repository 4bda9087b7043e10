"""The limits and defaults of libculmen-iobuf are the same in its C code, in `culmen iobuf`, and in its help."""

import re
from typing import get_type_hints

import pytest
from culmen.bench.words import one_size
from culmen.cli.iobuf import iobuf
from culmen.tune.iobuf.settings import Given, rule_of, variables_of
from harness import ROOT

from culmen import InputError

pytestmark = pytest.mark.no_numbers

SOURCE = ROOT / "src" / "iobuf"
LIMITS = re.compile(r'\{"(\w+)", "(\w+)", "[^"]*", ([^,]+), ([^,]+), ([01])\}')
NUMBERS = {"iobuf_least_bytes": 4096, "iobuf_most_buffers": 64, "UINT64_MAX / 2": 2**63 - 1}


def number(text):
    """The value of a constant expression in C."""
    text = re.sub(r"\(\w+\)", "", text.strip())
    if text in NUMBERS:
        return NUMBERS[text]
    value, _, shift = text.partition(" << ")
    return int(value) << int(shift or 0)


ALL = {name: (variable, number(least), number(most), is_size == "1")
       for name, variable, least, most, is_size in LIMITS.findall((SOURCE / "numbers.c").read_text())}  # fmt: skip
OPTIONS = {name: hint.__metadata__[0] for name, hint in get_type_hints(iobuf, include_extras=True).items()
           if hasattr(hint, "__metadata__")}  # fmt: skip


def is_allowed(make, *arguments, **named):
    try:
        make(*arguments, **named)
    except InputError:
        return False
    return True


def test_the_names_are_the_same():
    assert list(ALL) == ["size", "large", "buffers", "read_ahead", "write_behind", "memory", "delay_ms"]
    header = (SOURCE / "iobuf.h").read_text()
    for name in ("iobuf_least_bytes", "iobuf_most_buffers"):
        assert f"  {name} = {NUMBERS[name]},\n" in header
    for name, (variable, least, _, is_size) in ALL.items():
        assert list(variables_of(Given(**{name: str(least) if is_size else least}))) == [variable]


@pytest.mark.parametrize("name", [name for name, limits in ALL.items() if limits[3]])
def test_sizes_have_the_same_limits(name):
    _, least, most, _ = ALL[name]
    allowed = [is_allowed(variables_of, Given(**{name: str(size)})) for size in (least - 1, least, most, most + 1)]
    assert allowed == [False, True, True, False]


@pytest.mark.parametrize("name", [name for name, limits in ALL.items() if not limits[3]])
def test_whole_numbers_have_the_same_limits(name):
    _, least, most, _ = ALL[name]
    assert (OPTIONS[name].min, OPTIONS[name].max) == (least, most)
    if name != "delay_ms":  # no file has a delay of its own
        assert not is_allowed(rule_of, f"*:{name}={most + 1}")
        assert is_allowed(rule_of, f"*:{name}={most}")
        assert is_allowed(rule_of, f"*:{name}={least}")
        assert least == 0 or not is_allowed(rule_of, f"*:{name}={least - 1}")


def test_the_help_has_the_defaults_of_the_library():
    settings, memory = (SOURCE / "settings.c").read_text(), (SOURCE / "memory.c").read_text()
    usual = re.search(r"usual = \{([^}]*)\}", settings)[1].split(",")
    bytes_, shift, large, *counts = map(number, usual)
    assert bytes_ == 1 << shift
    found = dict(zip(ALL, (bytes_, large, *counts), strict=False))
    found["memory"] = number(re.search(r"iobuf_memory = ([^;]*);", memory)[1])
    found["delay_ms"] = number(re.search(r"iobuf_delay_ms = ([^;]*);", settings)[1])
    said = {name: re.search(r"Default: (\w+)\.", OPTIONS[name].help)[1] for name in ALL}
    assert {name: one_size(text, name) for name, text in said.items()} == found
