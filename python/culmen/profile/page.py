"""A profile as a page of text: where the MPI time goes, who waits, and what to do next."""

from collections import defaultdict
from dataclasses import dataclass, field

from rich.console import Group
from rich.table import Table

from ..base.text import enumerated, plural, shown_share
from .amounts import shown_bytes
from .killed import with_known_times
from .layout import KIND_NAMES
from .nodes import HEADINGS, Node, in_part, nodes_of, remark_on, rows_of
from .processors import processors_of, remark_on_clock
from .recorded import FURTHER, Rank, programs_of
from .sizes import table_of
from .tables import plain_table
from .timeline import common_timeline, phases_of
from .tuning import tuning_of
from .waits import longest_wait

_LEAST_SAMPLED = 0.1  # of the mean time of all calls: below, the sampled calls say nothing about the others
_FEW_SHARE, _MANY_SHARE = 0.1, 0.4  # of the run: below, a faster MPI hardly helps; above, the program is MPI-bound
_WAITING = 0.3  # of the time in MPI: above, the load is uneven
_LEAST_GAIN = 0.05  # of the run: below, no tuner is named
_LEAST_RUN_S = 0.1  # a shorter run says little
_SHORT_S = 5e-6  # of a wait: below, it may be the time of the added wait itself
_UNEVEN = 1.5  # the largest time in MPI over the smallest
_SHOWN = 15
_COLUMNS = ("calls", "bytes", "seconds", "of run", "µs each", "waiting")


@dataclass
class Total:
    """The calls of one function with one communicator, or with all communicators of one split, over all ranks."""

    kind: str = ""
    """One of KINDS."""
    calls: int = 0
    bytes: int = 0
    seconds: float = 0
    ended_s: float = 0
    """The part of ``seconds`` of ranks whose whole time is known. Only this part counts in shares."""
    sampled: int = 0
    sampled_s: float = 0
    waited_s: float = 0
    by_rank: dict[int, float] = field(default_factory=lambda: defaultdict(float))

    @property
    def is_measured(self) -> bool:
        """Whether the sampled calls stand for all calls."""
        return self.sampled_s > 0 and self.sampled_s >= _LEAST_SAMPLED * self.seconds * self.sampled / self.calls

    @property
    def waiting(self) -> float:
        """The share of the waits for late ranks; 0 if it was not measured."""
        return self.waited_s / self.sampled_s if self.is_measured else 0


def page(ranks: list[Rank], part: bool = False, all_rows: bool = False, sizes: bool = False) -> Group:
    """The output of `culmen profile`. There must be at least one rank. part: the ranks have only some calls. sizes:
    with the table of the sizes."""
    timed = with_known_times(ranks)
    totals = totals_of(timed)
    run_s = sum(rank.thread_s for rank in timed)
    rows = len(totals) if all_rows else _SHOWN
    nodes = nodes_of(timed)
    parts: list[Table | str] = [title_of(ranks), "", share_of(ranks, part), "", _functions(totals, run_s, rows)]
    if sizes and (table := table_of(timed)):
        parts += ["", table]
    if len(nodes) > 1:
        parts += ["", _nodes(nodes, part)]
    if not part and (phases := _phases(ranks)):
        parts += ["", phases]
    if waiting := waiting_in(totals, run_s):
        parts += ["", *filter(None, (waiting, longest_wait(ranks)))]
    if part:
        remark = remark_on_room(ranks)
        return Group(*parts, *(["", remark] if remark else []))
    return Group(*parts, "", *advice_of(ranks))


def share_of(ranks: list[Rank], part: bool = False) -> str:
    """A sentence about the share of MPI in the run. part: as for page()."""
    ended = [rank for rank in with_known_times(ranks) if rank.seconds]
    run_s = sum(rank.thread_s for rank in ended)
    return _share(ended, ranks, run_s, "The chosen calls take" if part else "MPI takes")


def advice_of(ranks: list[Rank]) -> list[str]:
    """Sentences about the whole run, and what to do next."""
    timed = with_known_times(ranks)
    ended = [rank for rank in timed if rank.seconds]
    run_s = sum(rank.thread_s for rank in ended)
    hints = sorted({(file, text) for rank in ranks for file, text in rank.hints.items()})
    said = [f"The program gave {file} the hints {text}." for file, text in hints]
    said += [*processors_of(ranks), *_advice(ranks, ended, totals_of(timed), run_s)]
    return [*said, *filter(None, (remark_on(nodes_of(timed)), remark_on_clock(ranks)))]


def remark_on_room(ranks: list[Rank]) -> str:
    """Sentences about calls without room; empty if there are none."""
    number = sum(rank.further_calls for rank in ranks)
    if not number:
        return ""
    said = f"The profile had no room for the communicators, sizes and peers of {plural(number, 'call')}."
    return f"{said} In the table, these calls have the name `{FURTHER}` instead of a communicator."


def _untuned(ranks: list[Rank]) -> str:
    """Sentences about the time of the calls without room."""
    lost_s = sum(calls.total_s for rank in ranks for calls in rank.calls if calls.communicator == FURTHER)
    share = shown_share(lost_s / sum(rank.in_mpi for rank in ranks) if lost_s else 0)
    return f"They take {share} of the time in MPI. `culmen tune app` does not tune them."


def totals_of(ranks: list[Rank]) -> dict[tuple[str, str], Total]:
    """Totals by function and communicator. All parts of a split count as one communicator."""
    totals: dict[tuple[str, str], Total] = defaultdict(Total)
    for rank in ranks:
        for calls in rank.calls:
            total = totals[calls.function, calls.communicators]
            total.kind = calls.kind
            total.calls += calls.calls
            total.bytes += calls.bytes
            total.seconds += calls.total_s
            total.ended_s += calls.total_s if rank.seconds else 0
            total.by_rank[rank.rank] += calls.total_s
            total.sampled += calls.sampled
            total.sampled_s += calls.sampled_s
            total.waited_s += calls.waited_s
    return totals


def waiting_in(totals: dict[tuple[str, str], Total], run_s: float) -> str:
    """A sentence about the time that ranks waited for other ranks; empty if this was not measured. run_s: the time of
    all ranks."""
    known = [total for total in totals.values() if total.is_measured]
    seconds = sum(total.seconds for total in known)
    if not seconds:
        return ""
    share = sum(total.seconds * total.waiting for total in known) / seconds
    names = sorted({function for (function, _), total in totals.items() if total.is_measured})
    calls, sampled = sum(total.calls for total in known), sum(total.sampled for total in known)
    said = (
        f"In {enumerated(names)}, ranks wait for late ranks for about {share:.0%} of the time: {seconds * share:.3g} "
        f"of {seconds:.3g} s (measured in {sampled:,} of {calls:,} calls)."
    )
    mean_s = sum(total.waited_s for total in known) / sampled
    if 0 < mean_s < _SHORT_S:
        return (
            f"{said} On average, a measured call waited only {mean_s * 1e6:.2g} µs. Without late ranks, the wait that "
            "culmen adds can take as long."
        )
    if share < _WAITING or seconds * share < _FEW_SHARE * run_s:
        return said
    return f"{said} A faster MPI does not reduce these waits; equal work for all ranks does."


def title_of(ranks: list[Rank]) -> str:
    """The program, its ranks, its MPI and its time."""
    first, hosts = ranks[0], len({rank.host for rank in ranks})
    longest = max(rank.seconds or 0 for rank in with_known_times(ranks))
    until = "" if any(rank.seconds for rank in ranks) else " until the end of the last recorded call"
    nodes = "1 node" if hosts == 1 else f"{hosts} nodes"
    most = max(rank.threads for rank in ranks)
    threads = f" with up to {most} threads that call MPI" if most > 1 else ""
    where = f"{plural(first.size, 'rank')}{threads} on {nodes}, {first.library}"
    return f"{programs_of(ranks)}: {where}, {longest:.4g} s after {first.begin}{until}"


def _share(ended: list[Rank], ranks: list[Rank], run_s: float, subject: str) -> str:
    """ranks: all that left a profile."""
    if not ended or run_s == 0:
        return f"No rank reached {ranks[0].end}, so the share of MPI in the run is not known."
    shares = sorted((rank.in_mpi / rank.thread_s, rank.rank) for rank in ended)
    all_s = sum(rank.in_mpi for rank in ended)
    whose = "all ranks" if len(ended) == len(ranks) == ended[0].size else f"the ranks that reached {ranks[0].end}"
    if not any(rank.seconds for rank in ranks):
        whose = "the ranks until the end of their last recorded calls"
    said = f"{subject} {all_s / run_s:.0%} of the time of {whose}"
    if len(ended) == 1:
        return f"{said}: rank {shares[0][1]}."
    return f"{said}: from {shares[0][0]:.0%} (rank {shares[0][1]}) to {shares[-1][0]:.0%} (rank {shares[-1][1]})."


def _moving(most: Total, run_s: float) -> float:
    """The share of the run that is in these calls, without the waits for late ranks."""
    return most.ended_s * (1 - most.waiting) / run_s


def _gain(most: Total, run_s: float) -> str:
    """The possible gain, by Amdahl's law."""
    moving = _moving(most, run_s)
    without = f" Without the waits for late ranks it takes {moving:.0%}." if most.waiting else ""
    most_of_all = "" if most.is_measured else "at most "
    gain = f"If it were twice as fast, the run would take {most_of_all}{moving / 2:.0%} less time."
    return f"{without} {gain}".strip()


def _functions(totals: dict[tuple[str, str], Total], run_s: float, rows: int) -> Table:
    table = plain_table("function")
    for name in columns_of(totals):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("communicator", overflow="fold", min_width=12)
    most = sorted(totals.items(), key=lambda item: -item[1].seconds)
    for (function, communicator), total in most[:rows]:
        table.add_row(function, *cells_of(total, run_s, columns_of(totals)), communicator)
    if len(most) > rows:
        rest_s = sum(total.seconds for _, total in most[rows:])
        ended_s = sum(total.ended_s for _, total in most[rows:])
        table.add_row(f"{len(most) - rows} more", "", "", f"{rest_s:,.4f}", f"{ended_s / run_s:.1%}" if run_s else "–")
    return table


def _nodes(nodes: list[Node], part: bool) -> Table:
    table = plain_table(HEADINGS[0])
    for name in HEADINGS[1:]:
        table.add_column(in_part(name) if part else name, justify="right", no_wrap=True)
    for row in rows_of(nodes):
        table.add_row(*row)
    return table


def _phases(ranks: list[Rank]) -> Table | None:
    """None if the run has one phase only."""
    timeline = common_timeline(ranks)
    phases = phases_of(timeline) if timeline else []
    if len(phases) < 2:
        return None
    table = plain_table("phase")
    for name in ("from s", "to s", "in MPI", "mostly"):
        table.add_column(name, justify="left" if name == "mostly" else "right", no_wrap=True)
    for k, phase in enumerate(phases, 1):
        table.add_row(
            str(k),
            f"{phase.begin_s:.4g}",
            f"{phase.end_s:.4g}",
            f"{phase.in_mpi:.1%}",
            KIND_NAMES.get(phase.mostly, ""),
        )
    return table


def columns_of(totals: dict[tuple[str, str], Total]) -> tuple[str, ...]:
    """The columns with numbers."""
    return _COLUMNS if any(total.sampled for total in totals.values()) else _COLUMNS[:-1]


def cells_of(total: Total, run_s: float, columns: tuple[str, ...]) -> list[str]:
    """The cells of these columns."""
    share = f"{total.ended_s / run_s:.1%}" if run_s else "–"
    each = f"{total.seconds / total.calls * 1e6:,.1f}"
    amount = shown_bytes(total.bytes) if total.bytes else ""
    waiting = f"{total.waiting:.0%}" if total.is_measured else "–" if total.sampled else ""
    return [f"{total.calls:,}", amount, f"{total.seconds:,.4f}", share, each, waiting][: len(columns)]


def _advice(ranks: list[Rank], ended: list[Rank], totals: dict[tuple[str, str], Total], run_s: float) -> list[str]:
    said: list[str] = []
    missing = sorted(set(range(ranks[0].size)) - {rank.rank for rank in ranks})
    if missing:
        said.append(f"No profile came from rank {', '.join(map(str, missing))}.")
    lost = [rank.rank for rank in ranks if rank.seconds is None]
    if lost:
        whose = f"Rank {lost[0]}" if len(lost) == 1 else f"Ranks {enumerated(list(map(str, lost)))}"
        its = "Its" if len(lost) == 1 else "Their"
        if len(lost) == len(ranks):
            said.append(f"{whose} did not reach {ranks[0].end}. {its} times end with the last recorded calls.")
        else:
            said.append(f"{whose} did not reach {ranks[0].end}. {its} calls until then are counted, but have no share.")
    if remark := remark_on_room(ranks):
        said += [remark, _untuned(ranks)]
    if uncharged := sum(rank.uncharged for rank in ranks):
        said.append(
            f"For {plural(uncharged, 'request')}, culmen does not know which function started "
            f"{'it' if uncharged == 1 else 'them'}. The time of the waits is in the rows of the waits."
        )
    if not run_s or not totals:
        return said
    longest_s = max(rank.seconds or 0 for rank in ended)
    if longest_s < _LEAST_RUN_S:
        said.append(f"A run of {longest_s:.2g} s is too short to tell whether the program is MPI-bound.")
        return said
    share = sum(rank.in_mpi for rank in ended) / run_s
    if share < _FEW_SHARE:
        said.append(f"The program is not MPI-bound: without MPI it would take at most {share:.0%} less time.")
        return said
    (function, communicator), most = max(totals.items(), key=lambda item: item[1].ended_s)
    partly = "" if share >= _MANY_SHARE else "partly "
    word = f"is {partly}bound by its I/O" if most.kind == "files" else f"is {partly}MPI-bound"
    where = f" ({communicator})" if communicator else ""
    said.append(
        f"The program {word}. {function}{where} takes most of that time: {most.ended_s / run_s:.0%} of the run. "
        f"{_gain(most, run_s)}"
    )
    sampled = any(total.sampled for total in totals.values())
    if _moving(most, run_s) / 2 >= _LEAST_GAIN:
        said += tuning_of(ranks, function, communicator, most.kind, sampled)
    else:
        said.append("This is so little that a tuner is hardly worthwhile.")
    times = sorted((most.by_rank.get(rank.rank, 0.0), rank.rank) for rank in ended)
    if times[0][0] > 0 and times[-1][0] > _UNEVEN * times[0][0]:
        said.append(
            f"Rank {times[0][1]} is in {function} for the shortest time ({times[0][0]:.3g} s), rank {times[-1][1]} "
            f"for the longest ({times[-1][0]:.3g} s). Other ranks probably wait for rank {times[0][1]}."
        )
    return said
