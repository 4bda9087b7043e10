"""The tables of ``culmen tune cluster --variables``, for the terminal and for the HTML page."""

from collections.abc import Sequence

from ...bench.words import shown_size
from ...launch.mpi.variables import TRANSPORT
from ...report.page import Section, table, text
from .pairs import Gain
from .setting_gains import Memory, Row, SpotGain, TunedVariables
from .variables_files import about_limit

HEADINGS = ["variable", "default", "best in race", "times faster", "from – to", "chosen", "why"]
TEXTS = ("variable", "default", "best in race", "from – to", "chosen", "why")
_VALUES = ["variable", "value", "times faster", "from – to", "launches", "left out because"]
_SPOTS = ["collective", "size", "default in µs", "chosen in µs", "times faster", "from – to"]
_MEMORY = [
    "transport", "times faster in the race", "from – to", "most in MPI_Init", "after MPI_Init", "with messages to all",
    "for each further rank", "left out because",
]  # fmt: skip
_MIB = 1 << 20
_CLEAN = "–"


def rows_of(found: TunedVariables) -> list[list[str]]:
    """One row for each variable."""
    return [_row(row) for row in found.rows]


def _row(row: Row) -> list[str]:
    return [row.variable, row.default, row.tried, *_gain(row.gain), row.value, row.why]


def _gain(gain: Gain | None) -> list[str]:
    """Two cells: the gain and its interval."""
    if gain is None:
        return [_CLEAN, _CLEAN]
    return [f"{gain.times_faster:.3g}", f"{gain.low:.3g} – {gain.high:.3g}" if gain.pairs > 1 else _CLEAN]


def sections_of(found: TunedVariables) -> list[Section]:
    """The sections for the HTML page."""
    about = f"Measured with {found.shape}, in {found.launches} launches. " + (
        f"With the chosen values, calls are {found.whole.times_faster:.3g} times faster ({found.whole.low:.3g} – "
        f"{found.whole.high:.3g}): the geometric mean over all collectives and message sizes."
        if found.whole
        else "All variables keep the default."
    )
    about = " ".join([about, *about_limit(found)])
    out = [Section("variables", "Variables", f"<p>{text(about)}</p>" + table(rows_of(found), HEADINGS, numbers=(3,)))]
    if found.spots:
        body = table([_spot(each) for each in found.spots], _SPOTS, numbers=(2, 3, 4))
        out.append(Section("variables-places", "Gain of the variables", body))
    if found.memory:
        about = (
            "Memory of the rank that has most, in MiB. Shared memory counts in each rank that uses it. The last number "
            "is the difference between two numbers of ranks."
        )
        body = table([_memory(each, found) for each in found.memory], _MEMORY, numbers=(1, 3, 4, 5, 6))
        out.append(Section("memory", "Memory of the transports", f"<p>{about}</p>{body}"))
    tried = [
        [each.variable, each.value, *_gain(each.gain), str(each.gain.pairs) if each.gain else _CLEAN, each.failed]
        for each in found.tried
    ]
    about = "Against the default, in the race. To choose, culmen uses fresh launches."
    body = f"<p>{about}</p>" + table(tried, _VALUES, numbers=(2, 4))
    return [*out, Section("variables-values", "All values of the variables", body)]


def _spot(each: SpotGain) -> list[str]:
    times = [f"{1e6 * seconds:.3g}" for seconds in (each.default_s, each.chosen_s)]
    return [each.spot.collective, shown_size(each.spot.size), *times, *_gain(each.gain)]


def _memory(each: Memory, found: TunedVariables) -> list[str]:
    race = next((one.gain for one in found.tried if (one.variable, one.value) == (TRANSPORT, each.transport)), None)
    sizes: Sequence[float | None] = (each.most_of_init, each.after_init, each.with_messages, each.per_peer)
    cells = [_CLEAN if each.failed or size is None else f"{size / _MIB:.3g}" for size in sizes]
    return [each.transport, *_gain(race), *cells, each.failed]
