"""``culmen model``: fits models to measured times, and names the algorithm that they predict to be the fastest."""

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..._core import InputError
from ...base.exit_codes import FINISHED
from ...base.text import did_you_mean, enumerated, plural
from ...bench.collectives.points import BARRIERS
from ...bench.kept import folder_for
from ...bench.words import short_size, shown_size, sizes_of, words_of
from ...model import figures, rows
from ...model.compare import HEADINGS as COMPARED
from ...model.compare import Parted, compare, sentences, without_model
from ...model.measured import Place, Times, cores_beside, is_latencies, read_latencies, read_times, socket_beside
from ...model.point_to_point import Network, network
from ...model.rows import MESSAGE, Modelled, Options
from ...model.selection import ANALYTIC, Correction, Prediction, Regret, Selector, as_good
from ...report.files import Kind, replacing
from ...report.page import PAGE
from .summary import print_table

_FOLDER = Path("model")
_TABLE = Kind("table", lambda _path, head: head.startswith(",".join(rows.COLUMNS).encode()))
_USUAL_SIZE = 1024


class Shown(NamedTuple):
    """The selection that is printed and drawn. ``collectives``: empty for all."""

    collectives: tuple[str, ...]
    ranks: int | None
    size: int | None


class Question(NamedTuple):
    collective: str
    place: Place


def options_of(breaks: str | None, size_breaks: str | None, keep: bool, continuous: bool) -> Options:
    """Raises InputError for a wrong option."""
    ranks = [_whole(word) for word in words_of(breaks, "--breaks")] if breaks else []
    sizes = [_one_size(word, "--size-breaks") for word in words_of(size_breaks, "--size-breaks")] if size_breaks else []
    if keep and not ranks and not sizes:
        raise InputError("--keep-breaks needs --breaks or --size-breaks")
    return Options(tuple(ranks), tuple(map(float, sizes)), continuous, keep)


def _whole(word: str) -> float:
    if not re.fullmatch(r"[0-9]{1,9}", word) or int(word) < 1:
        raise InputError(f"--breaks: '{word}' is no number of ranks; write for example --breaks 12,24,36")
    return float(word)


def _one_size(word: str, option: str) -> int:
    try:
        sizes = sizes_of(word)
    except InputError:
        sizes = ()
    if len(sizes) != 1:
        raise InputError(f"{option} {word}: it must be a number of bytes, such as 100, 64K or 4M")
    return sizes[0]


def shown_of(collectives: str | None, ranks: int | None, size: str | None) -> Shown:
    """Raises InputError for a wrong option."""
    chosen = words_of(collectives, "--collectives") if collectives else ()
    return Shown(chosen, ranks, _one_size(size, "--size") if size else None)


def question_of(collective: str, ranks: int, size: str | None) -> Question:
    """Raises InputError for a wrong option."""
    if size is None:
        if collective not in BARRIERS:
            raise InputError(f"--size is missing; give the message size of {collective} in bytes, such as 8 or 64K")
        size = "0"
    return Question(collective, Place(ranks, _one_size(size, "--size")))


def fit_models(path: Path, options: Options, shown: Shown, output: Path | None, quiet: bool) -> int:
    """Writes the coefficients and the page, and returns an exit code."""
    if is_latencies(path):
        models = [
            model
            for mapping, messages in read_latencies(path).items()
            for model in rows.model_messages(messages, "", mapping, options)
        ]
        return _write(models, models, [], {}, rows.without_bends(models, options), output, quiet)
    times = read_times(path)
    _check_names(times, shown.collectives, path)
    networks = {mpi: net for mpi, _ in times.of if (net := times.network(mpi)) is not None}
    models = rows.model_all(times, replace(options, socket=socket_beside(path)))
    if not models:
        raise InputError(f"{path}: a model needs at least four message sizes or numbers of ranks of one algorithm")
    parted = [
        each for each in compare(times, networks) if not shown.collectives or each.collective in shown.collectives
    ]
    remarks = (
        _nearest_ones(times, shown) + rows.without_bends(models, options) + _remarks(times, parted, networks, path)
    )
    return _write(models, _chosen(models, shown), parted, networks, remarks, output, quiet)


def _check_names(times: Times, collectives: Sequence[str], path: Path) -> None:
    """Raises InputError for an unknown name."""
    known = sorted({collective for _, collective in times.of})
    for name in collectives:
        if name not in known:
            near = did_you_mean(name, known)
            raise InputError(f"--collectives: {path} has no '{name}'{near}; it has {', '.join(known)}")


def _nearest_ones(times: Times, shown: Shown) -> list[str]:
    """A sentence if nothing was measured with the number of ranks, or with the size, of the user."""
    places = [
        place
        for (_, collective), algorithms in times.of.items()
        for there in algorithms.values()
        for place in there
        if not shown.collectives or collective in shown.collectives
    ]
    ranks, sizes = sorted({place.ranks for place in places}), sorted({place.size for place in places})
    out = []
    if shown.ranks is not None and shown.ranks not in ranks:
        out.append(
            f"{shown.ranks} ranks were not measured: models over the size are shown for the nearest of "
            f"{enumerated([str(n) for n in ranks])} ranks."
        )
    if shown.size is not None and shown.size not in sizes:
        out.append(
            f"The size {short_size(shown.size)} was not measured: models over ranks are shown for the nearest of the "
            f"sizes {enumerated([short_size(n) for n in sizes])}."
        )
    return out


def _chosen(models: Sequence[Modelled], shown: Shown) -> list[Modelled]:
    """The models that are printed and drawn: for each collective, those of one number of ranks and one size."""
    out = []
    for each in models:
        s = each.series
        same = [
            m.series.at
            for m in models
            if (m.series.mpi, m.series.collective, m.series.over) == (s.mpi, s.collective, s.over)
        ]
        if s.collective == MESSAGE or (
            (not shown.collectives or s.collective in shown.collectives) and s.at == _nearest(same, s.over, shown)
        ):
            out.append(each)
    return out


def _nearest(there: list[int], over: str, shown: Shown) -> int:
    wanted = shown.ranks if over == "size" else shown.size if shown.size is not None else _USUAL_SIZE
    return max(there) if wanted is None else min(there, key=lambda x: abs(math.log((x + 1) / (wanted + 1))))


def _remarks(times: Times, parted: list[Parted], networks: dict[str, Network], path: Path) -> list[str]:
    """Remarks on differences between models and measurements, and on collectives without a model."""
    out = sentences(parted, cores_beside(path))
    if not networks:
        out.append("Without broadcasts between two ranks in the table, there are no analytic models.")
    out += [f"There is no analytic model of {name}: {why}." for name, why in without_model(times).items() if networks]
    if times.unverified:
        many = f"{plural(times.unverified, 'point')} {'was' if times.unverified == 1 else 'were'}"
        out.append(f"{many} left out: it is not known whether the MPI used the algorithm that the table names.")
    return out


def _write(
    models: Sequence[Modelled],
    chosen: Sequence[Modelled],
    parted: Sequence[Parted],
    networks: dict[str, Network],
    remarks: Sequence[str],
    output: Path | None,
    quiet: bool,
) -> int:
    folder = folder_for(output or _FOLDER)
    table, page = folder / "coefficients.csv", folder / "models.html"
    with replacing(table, _TABLE, force=True) as part:
        rows.write(part, models)
    with replacing(page, PAGE, force=True) as part:
        part.write_text(figures.models_page(chosen, parted, networks, remarks), encoding="utf-8")
    if not quiet:
        print_table(rows.HEADINGS, rows.shown_rows(chosen), rows.HEADINGS[:4])
        if parted:
            print_table(COMPARED, [each.row() for each in parted], COMPARED[:2])
        for sentence in remarks:
            print(sentence)
        print(f"Wrote {table} and {page}")
    return FINISHED


def select_algorithm(
    path: Path, question: Question, mpi: str | None, messages: Path | None, mapping: str | None, check: bool
) -> int:
    """Prints the predicted times and the regret, and returns an exit code."""
    times = read_times(path)
    name = _mpi_of(times, mpi, question.collective, path)
    own = times.network(name)
    net = _network_of(messages, mapping, own.reduce_s if own else 0.0) if messages else own
    selector = Selector(times, name, question.collective, net, messages is not None)
    predicted = selector.predict(question.place)
    if not predicted:
        raise InputError(
            f"{path}: nothing was measured near {question.place.ranks} ranks and {shown_size(question.place.size)}, "
            "and there are no messages for analytic models; give --messages"
        )
    _print_prediction(question, name, predicted)
    for sentence in _doubts(selector, question, predicted):
        print(sentence)
    _print_regret(selector, question.place)
    if check:
        _print_regrets(selector.regrets())
    return FINISHED


def _mpi_of(times: Times, given: str | None, collective: str, path: Path) -> str:
    """The MPI of the table. Raises InputError if the table has no data for the question."""
    names = list(dict.fromkeys(mpi for mpi, _ in times.of))
    chosen = [each for each in names if given is None or given.lower() in (each.lower(), each.split()[0].lower())]
    if not chosen:
        raise InputError(f"--mpi {given}: {path} has no such MPI; it has {', '.join(names)}")
    if len(chosen) > 1:
        raise InputError(f"{path} has several MPIs; choose one with --mpi: {', '.join(chosen)}")
    known = [each for mpi, each in times.of if mpi == chosen[0]]
    if collective not in known:
        near = did_you_mean(collective, known)
        raise InputError(f"--collective: {path} has no '{collective}'{near}; it has {', '.join(known)}")
    return chosen[0]


def _network_of(messages: Path, mapping: str | None, reduce_s: float) -> Network:
    """The network of these messages. They do not contain the cost of an addition: this is ``reduce_s``, in seconds per
    byte."""
    found = read_latencies(messages)
    if mapping is None and len(found) > 1:
        raise InputError(f"{messages} has several mappings; choose one with --mapping: {', '.join(found)}")
    name = mapping or next(iter(found))
    if name not in found:
        raise InputError(f"--mapping {name}: {messages} has no such mapping; it has {', '.join(found)}")
    return replace(network(found[name], {}), reduce_s=reduce_s)


def _print_prediction(question: Question, mpi: str, predicted: list[Prediction]) -> None:
    best = predicted[0]
    where = f"{question.collective}, {question.place.ranks} ranks, {shown_size(question.place.size)}, {mpi}"
    print(f"{where}: {best.algorithm}, {1e6 * best.time_s:.3g} µs")
    headings = ["algorithm", "predicted in µs", "from", "corrected by", "measured in µs", "measured / predicted"]
    table = [
        [
            each.algorithm,
            f"{1e6 * each.time_s:.3g}",
            each.source,
            _shown_correction(question, each.correction),
            "–" if each.measured_s is None else f"{1e6 * each.measured_s:.3g}",
            "–" if each.measured_s is None else f"{each.measured_s / each.time_s:.3g}",
        ]
        for each in predicted
    ]
    print_table(headings, table, (headings[0], *headings[2:4]))
    if equal := as_good(predicted):
        print(f"The predictions for {', '.join(equal)} are at most 5 % longer.")


def _shown_correction(question: Question, found: Correction | None) -> str:
    return "–" if found is None or not found.used else f"{found.factor:.3g} (from {_point(question, found.at)})"


def _point(question: Question, place: Place) -> str:
    ranks = plural(place.ranks, "rank")
    return ranks if question.collective in BARRIERS else f"{ranks}, {shown_size(place.size)}"


def _doubts(selector: Selector, question: Question, predicted: list[Prediction]) -> list[str]:
    """Why the predictions of analytic models may be wrong."""
    place, out = question.place, []
    analytic = [each for each in predicted if each.source == ANALYTIC]
    refused = [each for each in analytic if each.correction and not each.correction.used]
    if refused and (other := refused[0].correction):
        out.append(
            f"The predictions are not corrected: at {_point(question, other.at)}, {refused[0].algorithm} took "
            f"{other.factor:.2g} times the predicted time, so the table and the messages seem to be of other networks."
        )
    least, most = selector.extent()
    if analytic and not (least.ranks <= place.ranks <= most.ranks and least.size <= place.size <= most.size):
        sizes = "" if question.collective in BARRIERS else f" and {shown_size(least.size)} to {shown_size(most.size)}"
        numbers = plural(most.ranks, "rank") if least.ranks == most.ranks else f"{least.ranks} to {most.ranks} ranks"
        out.append(
            f"Only {numbers}{sizes} were measured, so these predictions are extrapolations; "
            "measure points that are nearer."
        )
    if analytic and selector.net is not None and selector.net.largest < place.size:
        out.append(f"The largest measured message has {shown_size(int(selector.net.largest))}.")
    return out


def _print_regret(selector: Selector, place: Place) -> None:
    if place not in selector.places():
        print("The regret is unknown: fewer than two algorithms were measured at this point.")
        return
    found = selector.regret(place)
    if found is None:
        print("Without the measurements at this point, nothing is predicted that was measured.")
        return
    print(
        f"Without the measurements at this point, culmen predicts {found.algorithm}. The fastest one was "
        f"{found.fastest}. Regret: {100 * found.lost:.2g} %."
    )


def _print_regrets(found: list[Regret]) -> None:
    if not found:
        print("No measured point can be predicted from the others.")
        return
    lost = np.array([each.lost for each in found])
    worst = max(found, key=lambda each: each.lost)
    right = sum(each.lost == 0 for each in found)
    print(
        f"Each point was left out in turn: at {right} of {plural(len(found), 'point')}, the prediction was the fastest "
        f"algorithm. Regret: "
        f"{100 * np.median(lost):.2g} % (median), {100 * np.quantile(lost, 0.9):.2g} % (nine of ten are below), "
        f"{100 * worst.lost:.2g} % at most "
        f"({worst.place.ranks} ranks, {shown_size(worst.place.size)}: {worst.algorithm} instead of {worst.fastest})."
    )
