"""A profile as one HTML page."""

from collections import defaultdict
from collections.abc import Iterable
from functools import cache, partial

from ..base.text import plural
from ..report.heat_map import heat_map
from ..report.page import Section, page, place_of, table, text
from ..report.style import GREY, LINE_COLOURS, Figure, axis, layout
from .amounts import shown_bytes
from .communicators import members_of
from .killed import with_known_times
from .layout import KIND_NAMES
from .nodes import HEADINGS, in_part, nodes_of, rows_of
from .page import Total, advice_of, cells_of, columns_of, remark_on_room, share_of, title_of, totals_of, waiting_in
from .processors import shown_cpus
from .recorded import FURTHER, Calls, Rank
from .time_figures import KIND_COLOURS, phases_figure, timeline_figure
from .timeline import common_timeline
from .waits import longest_wait, waits_figure
from .worlds import HEADINGS as WORLD_HEADINGS
from .worlds import Worlds, remark_on
from .worlds import rows_of as rows_of_worlds

_DRAWN = 6  # functions with a colour of their own
_SENDS = ("send", "put", "accumulate")
_GETS = ("get", "fetch", "compare")  # one-sided: the data come from the other rank
_RANKS = ["rank", "host", "seconds", "in MPI", "CPUs", "preempted", "largest memory"]


def profile_page(worlds: Worlds, part: bool = False, more: str = "") -> str:
    """The HTML page of the chosen world. part: its ranks have only some of their calls. more: further sentences."""
    ranks = worlds.ranks
    timed = with_known_times(ranks)
    totals, figures = totals_of(timed), figures_of(ranks, part)
    sections = [Section(f"section-{f.key}", f.title, place_of(f)) for f in figures]
    columns, run_s = columns_of(totals), sum(rank.thread_s for rank in timed)
    headings = ["function", "communicator", *columns]
    rows = table(_functions(totals, run_s, columns), headings, numbers=range(2, len(headings)))
    waiting = " ".join(filter(None, (waiting_in(totals, run_s), longest_wait(ranks))))
    sections.append(Section("functions", "Functions", f"<p>{text(waiting)}</p>{rows}"))
    if len(nodes := nodes_of(timed)) > 1:
        headings = [in_part(each) if part else each for each in HEADINGS]
        sections.append(Section("nodes", "Nodes", table(rows_of(nodes), headings, numbers=range(1, len(HEADINGS)))))
    headings = [in_part(each) if part else each for each in _RANKS]
    sections.append(Section("ranks", "Ranks", table(_ranks(ranks), headings, numbers=(0, *range(2, len(_RANKS))))))
    if remark := remark_on(worlds):
        rows = table(rows_of_worlds(worlds), WORLD_HEADINGS, numbers=range(4))
        sections.append(Section("worlds", "Worlds", f"<p>{text(remark)}</p>{rows}"))
    said = [
        remark,
        f"{title_of(ranks)}.",
        share_of(ranks, part),
        *([remark_on_room(ranks)] if part else advice_of(ranks)),
        more,
    ]
    return page("Profile", "".join(f"<p>{text(sentence)}</p>" for sentence in said if sentence), sections, figures)


def figures_of(ranks: list[Rank], part: bool = False) -> list[Figure]:
    """The figures for which the profile has data. part: the ranks have only some of their calls."""
    found = [
        _balance(with_known_times(ranks), totals_of(ranks), part),
        waits_figure(ranks),
        _traffic(ranks),
        _sizes(ranks),
    ]
    timeline = None if part else common_timeline(ranks)
    if timeline is not None:
        found[1:1] = [phases_figure(timeline), timeline_figure(timeline)]
    return [figure for figure in found if figure is not None]


def _balance(ranks: list[Rank], totals: dict[tuple[str, str], Total], part: bool) -> Figure | None:
    """The time of each rank, by function."""
    ended = [rank for rank in ranks if rank.seconds]
    if not ended:
        return None
    by_function: dict[str, dict[int, float]] = defaultdict(lambda: defaultdict(float))
    for (function, _), total in totals.items():
        for rank, seconds in total.by_rank.items():
            by_function[function][rank] += seconds
    order = sorted(by_function, key=lambda name: -sum(by_function[name].values()))
    rows: list[tuple[str, str, list[float]]] = []
    for name, colour in zip(order[:_DRAWN], LINE_COLOURS, strict=False):
        rows.append((name, colour, [by_function[name][rank.rank] for rank in ended]))
    if rest := order[_DRAWN:]:
        rows.append(("other MPI functions", GREY, [sum(by_function[n][rank.rank] for n in rest) for rank in ended]))
    outside = [max(0.0, rank.thread_s - sum(values[k] for _, _, values in rows)) for k, rank in enumerate(ended)]
    rows.append(("everything else" if part else "outside MPI", "#dddddd", outside))
    first = ended[0]
    about = f"The time of each rank from the end of {first.begin} to the beginning of {first.end}."
    if first.cpu_s is None:
        about = f"The time of each rank from the end of {first.begin} to the end of its last recorded call."
    x = [str(rank.rank) for rank in ended]
    data = [
        {"type": "bar", "name": text(name), "x": x, "y": values, "marker": {"color": colour}}
        for name, colour, values in rows
    ]
    plain = layout(height=460, barmode="stack", legend={"x": 1.02, "y": 1})
    plain |= {"xaxis": axis("rank", type="category"), "yaxis": axis("seconds")}
    return Figure("balance", "Load balance", about, data, plain)


def _traffic(ranks: list[Rank]) -> Figure | None:
    """Bytes from rank to rank."""
    size = ranks[0].size
    amount = [[0] * size for _ in range(size)]
    left_out, members = 0, cache(partial(members_of, ranks))
    for rank in ranks:
        for calls in rank.calls:
            gets = _gets(calls)
            named = calls.peer >= 0 or calls.communicator == FURTHER
            if not named or not (gets or _sends(calls)) or rank.rank >= size:
                continue
            to = members(calls.communicator, calls.ranks).get(calls.peer)
            if to is not None and to < size:
                source, target = (to, rank.rank) if gets else (rank.rank, to)
                amount[target][source] += calls.bytes
            else:
                left_out += calls.bytes
    if not any(map(any, amount)):
        return None
    names = [str(k) for k in range(size)]
    said = [[f"from {i} to {j}: {shown_bytes(amount[j][i])}" for i in range(size)] for j in range(size)]
    data, parts = heat_map(names, names, amount, said, {"title": {"text": "bytes"}})
    about = (
        "Bytes of messages and one-sided functions that one rank sent to another. Collective functions are not here."
    )
    figure = Figure("traffic", "Traffic between ranks", about, data, layout(height=520) | parts)
    figure.layout["xaxis"]["title"], figure.layout["yaxis"]["title"] = {"text": "from rank"}, {"text": "to rank"}
    if left_out:
        figure.notes.append(
            f"{shown_bytes(left_out)} are not drawn, because the profile does not say which ranks of the program "
            "received them."
        )
    return figure


def _sends(calls: Calls) -> bool:
    return calls.kind in ("messages", "one-sided") and any(word in calls.function.lower() for word in _SENDS)


def _gets(calls: Calls) -> bool:
    return calls.kind == "one-sided" and any(word in calls.function.lower() for word in _GETS)


def _sizes(ranks: list[Rank]) -> Figure | None:
    """The number of calls of each size."""
    found: dict[str, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    for calls in _all(ranks):
        if calls.size_class is not None and (calls.bytes or calls.communicator):
            found[calls.kind][calls.size_class] += calls.calls
    classes = sorted({size for sizes in found.values() for size in sizes})
    if not classes:
        return None
    x = [shown_bytes(2**k // 2) for k in classes]
    data = [
        {"type": "bar", "name": name, "x": x, "y": [found[kind][k] for k in classes], "marker": {"color": colour}}
        for (kind, name), colour in zip(KIND_NAMES.items(), KIND_COLOURS, strict=True)
        if kind in found
    ]
    about = "The number of calls in each class of sizes: from the size that is shown to below its double."
    plain = layout(height=420, barmode="group")
    plain |= {"xaxis": axis("bytes of a call", type="category"), "yaxis": axis("calls", type="log")}
    figure = Figure("sizes", "Sizes", about, data, plain)
    if unknown := sum(calls.calls for calls in _all(ranks) if calls.size_class is None):
        figure.notes.append(f"The figure does not contain {plural(unknown, 'call')} whose size is not known.")
    return figure


def _all(ranks: Iterable[Rank]) -> Iterable[Calls]:
    for rank in ranks:
        yield from rank.calls


def _functions(totals: dict[tuple[str, str], Total], run_s: float, columns: tuple[str, ...]) -> list[list[str]]:
    ordered = sorted(totals.items(), key=lambda item: -item[1].seconds)
    return [[function, communicator, *cells_of(total, run_s, columns)] for (function, communicator), total in ordered]


def _ranks(ranks: list[Rank]) -> list[list[str]]:
    out = []
    for rank in ranks:
        share = f"{rank.in_mpi / rank.thread_s:.1%}" if rank.thread_s else "–"
        seconds = f"{rank.seconds:.4g}" if rank.seconds else f"did not reach {rank.end}"
        memory = shown_bytes(1024 * rank.memory_kib) if rank.seconds else "–"
        out.append([str(rank.rank), rank.host, seconds, share, shown_cpus(rank), f"{rank.preempted:,}", memory])
    return out
