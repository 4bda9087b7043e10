"""The gains: a table for the terminal, and plots on one HTML page."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import groupby

from ...base.text import plural, span_of
from ...bench.drawing import lead_of
from ...bench.words import shown_size
from ...launch.mpi.collectives import DEFAULT, Collectives
from ...report.page import Section, page, place_of, table, text
from .averages import averages
from .choices import Choice, Shape, Tuned
from .gain_figures import figures_of
from .kept import KEPT, from_to, kept_rows

_ANY = Collectives()
_PAIRED = (
    "The gain is a mean of ratios: in each launch, calls of both algorithms are compared in turns. Therefore it can "
    "differ from the quotient of the two columns of times."
)
_NOTHING_TO_USE = Section(
    "use", "Nothing to use", "<p>All points keep the MPI's own choice. The tuning file has no rules: do not use it.</p>"
)

HEADINGS = ["collective", "ranks", "size", "algorithm", "default in µs", "algorithm in µs", "times faster", "from – to"]
TEXTS = (HEADINGS[0], HEADINGS[2], HEADINGS[3], HEADINGS[7])


def rows_of(choices: Sequence[Choice]) -> list[list[str]]:
    """Neighbouring sizes with the same algorithm share a line."""
    out = []
    for _, group in groupby(choices, lambda c: (c.place.collective, c.place.ranks, c.algorithm)):
        same = list(group)
        first, last = same[0], same[-1]
        sizes = [shown_size(each.place.size) for each in (first, last)]
        gains = [each.gain for each in same if each.gain is not None]
        row = [first.place.collective, str(first.place.ranks)]
        row += [
            "–" if first.place.collective == "barrier" else sizes[0] if first is last else " – ".join(sizes),
            first.algorithm,
            span_of([1e6 * each.default_s for each in same]),
        ]
        if first.algorithm == DEFAULT:
            out.append([*row, "–", "–", "–"])
            continue
        row += [span_of([1e6 * each.candidate_s for each in same]), span_of([g.times_faster for g in gains])]
        out.append([*row, f"{min(g.low for g in gains):.3g} – {max(g.high for g in gains):.3g}"])
    return out


def lost_rows(tuned: Tuned) -> list[list[str]]:
    """Collective, ranks, message sizes, algorithm, reason: sizes with the same reason share a line."""
    sizes: dict[tuple[str, int, str, str], list[int]] = defaultdict(list)
    for (name, ranks, size, algorithm), why in tuned.lost.items():
        sizes[name, ranks, algorithm, why].append(size)
    places: dict[tuple[str, int], set[int]] = defaultdict(set)
    for place in (*(choice.place for choice in tuned.choices), *tuned.unmeasured):
        places[place.collective, place.ranks].add(place.size)
    out = []
    for (name, ranks, algorithm, why), there in sizes.items():
        whole = places[name, ranks] <= set(there)
        out.append([name, str(ranks), "all" if whole else ", ".join(map(shown_size, sorted(there))), algorithm, why])
    return out


def about_slow(tuned: Tuned) -> str:
    """Empty if no algorithm was left out."""
    if not tuned.slow:
        return ""
    what = plural(tuned.slow, "combination")
    return f"culmen did not measure {what} of algorithm and point: the models of `culmen model` predict long times."


def about_shapes(tuned: Tuned, known: Collectives) -> str:
    """Sentences about the nodes of the ranks, and about where the rules hold."""
    by_ranks = sorted({(ranks, shape) for (_, ranks), shape in tuned.shapes.items()})
    said = [f"{ranks} ranks on {_on(shape)}" for ranks, shape in by_ranks]
    within = known.routes_name and all(shape.nodes == 1 for _, shape in by_ranks)
    if within and known.rules_kind == "tree":
        return f"Measured with {', '.join(said)}. The rules hold only within one node."
    if within:
        return f"Measured with {', '.join(said)}. On several nodes, Open MPI uses its component han instead."
    if known.rules_kind == "tree":
        return f"Measured with {', '.join(said)}. Rules for several nodes do not hold within one node."
    return f"Measured with {', '.join(said)}. The rules also hold if so many ranks are on other numbers of nodes."


def _on(shape: Shape) -> str:
    return "1 node" if shape.nodes == 1 else f"{shape.nodes} nodes (at most {shape.ppn} on one)"


def tuning_page(
    tuned: Tuned,
    use: str,
    machine: str,
    known: Collectives = _ANY,
    more: Sequence[Section] = (),
    one_rule: Sequence[str] = (),
    last: Sequence[Section] = (),
) -> str:
    """The HTML page. ``use``: the commands that use the choices; empty: there are none. ``machine``: the machine of the
    measurement. ``more``: sections after the first one. ``one_rule``: sentences about collectives with one rule for all
    sizes. ``last``: the last sections."""
    figures = list(figures_of(tuned))
    lead = lead_of("culmen tune cluster", here=False)
    lead += f"<p>{text(f'{tuned.version}; {machine}. {about_shapes(tuned, known)}')}</p>"
    sections = [Section("use", "Use the choices", f"<pre>{text(use)}</pre>") if use else _NOTHING_TO_USE, *more]
    sections.append(Section("averages", _averaged(tuned), _averages(tuned)))
    sections += [Section(f"section-{f.key}", f.title, place_of(f)) for f in figures]
    about = [*one_rule, *([about_slow(tuned)] if tuned.slow else [])]
    if tuned.changed:
        about.insert(0, _PAIRED)
    left_out = "".join(f"<p>{text(sentence)}</p>" for sentence in about)
    choices = table(rows_of(tuned.choices), HEADINGS, numbers=(1, 4, 5, 6))
    sections.append(Section("choices", "All choices", choices + left_out))
    if kept := kept_rows(tuned):
        sections.append(Section("kept", "Points that keep the default", table(kept, KEPT, numbers=(1, 5))))
    if tuned.lost:
        headings = ["collective", "ranks", "message sizes", "algorithm", "reason"]
        lost = table(lost_rows(tuned), headings, numbers=(1,))
        sections.append(Section("lost", "Algorithms that were not used", lost))
    return page("Tuned collectives", lead, [*sections, *last], figures)


def _averaged(tuned: Tuned) -> str:
    """The heading, which names the message sizes."""
    sizes = [each.place.size for each in tuned.choices if each.place.collective != "barrier"]
    if not sizes:
        return "Average"
    return f"Average over message sizes from {shown_size(min(sizes))} to {shown_size(max(sizes))}"


def _averages(tuned: Tuned) -> str:
    rows = [
        [each.collective, str(each.ranks), str(each.points), f"{each.times_faster:.3g}", from_to(each.interval)]
        for each in averages(tuned)
    ]
    about = (
        "The geometric mean over all message sizes. A point that keeps the default counts as 1. The interval comes "
        "from the launches: each launch gives one mean."
    )
    headings = ["collective", "ranks", "message sizes", "times faster (geometric mean)", "from – to"]
    return f"<p>{about}</p>" + table(rows, headings, numbers=(1, 2, 3))
