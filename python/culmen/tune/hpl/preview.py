"""The sentences of ``culmen tune hpl --dry-run``: they say what the command would do."""

from collections.abc import Iterator

from ...base.text import lasted, plural
from ...study_file.space import ParameterTable
from ..command.line import typed_line
from ..command.preview import NOTHING, space_lines
from .asked import Asked
from .first import first_n, first_settings
from .measured import input_text
from .plan import CHECK_SHARE, COMPARISON_SHARE, LATE, SEARCH_SHARE
from .program import input_name
from .report import PRESENT
from .space import command_for, dat_of


def preview(asked: Asked) -> Iterator[str]:
    present = asked.cases[PRESENT]
    space = {name: ParameterTable(**table) for name, table in asked.whole_space().items()}
    active = {name: value for name, value in present.items() if name != "swap_threshold" or present["swap"] == "mix"}
    yield from space_lines(space, active, len(asked.programs.by_choice) > 1)
    yield from asked.left_out
    yield "Objective: the largest GFLOPS"
    yield from _plan(asked)
    words, variables = command_for(asked.programs.of(present), present, asked.cores)
    name = input_name(asked.program.is_hpcc)
    yield f"With the present settings, this line runs, in a new folder with this {name}:"
    yield f"  {typed_line(variables, words)}"
    text = input_text(dat_of(present, first_n(asked), asked.baseline.dat), asked.program.is_hpcc)
    yield from (f"    {line}".rstrip() for line in text.splitlines())
    yield NOTHING


def _plan(asked: Asked) -> Iterator[str]:
    minutes, wanted = asked.options.minutes, asked.wanted
    yield (
        f"Time: about {lasted(60 * minutes)} for all runs (--minutes); a run is stopped if it takes about "
        f"{LATE:g} times as long as expected"
    )
    shares = (SEARCH_SHARE, CHECK_SHARE, COMPARISON_SHARE)
    search, check, comparison = (lasted(60 * minutes * share) for share in shares)
    yield (
        f"Plan: {plural(len(first_settings(asked)), 'first run')} with N = {first_n(asked)} and some with a larger N; "
        f"then the search ({search}), a check of the best settings with a larger N ({check}), and {wanted.rounds} "
        f"rounds of at most {wanted.kinds} runs ({comparison})"
    )
    size = asked.options.size
    final = f"N = {size}, as --size says" if size else f"the N that fits into the time, at most {wanted.memory_n}"
    yield f"The rounds have {final}. The first runs decide about all other sizes."
