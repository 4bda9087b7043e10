"""Tables in parts: each point of a study writes its own, and the command joins them."""

import csv
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from .._core import InputError
from ..launch.launcher import names_hosts, situations
from ..launch.mpi import Launcher, Words, load
from .cells import Cells, unreadable

FOLDER = "CULMEN_BENCH_FOLDER"  # environment variable: the folder of the results
LAUNCHERS = "CULMEN_BENCH_LAUNCHERS"  # settings of launchers: an evaluator does not get variables with their own names
_NEW_COLUMNS = 4  # number of columns that earlier versions did not write


def for_evaluators(folder: Path) -> None:
    """Puts data for evaluators into the environment: the folder of the results, and the settings of launchers."""
    os.environ[FOLDER] = str(folder.resolve())
    host_files = {mpi.host_file for mpi in load()}
    kept = {name: text for name, text in os.environ.items() if name.startswith("HYDRA_") or name in host_files}
    os.environ[LAUNCHERS] = json.dumps(kept)


def settings_of_launchers() -> dict[str, str]:
    """For an evaluator, the variables for a launcher of MPI ranks that are not in its environment."""
    return json.loads(os.environ.get(LAUNCHERS, "{}"))


def situations_here(launcher: Launcher, n: int) -> list[Words]:
    """The same as ``situations``, but also right in an evaluator, whose environment has no file of hosts. ``n``: number
    of ranks on a machine."""
    return situations(launcher, n, here=not names_hosts(settings_of_launchers()))


def part_named(name: str, folder: Path | None = None) -> Path:
    """``folder``: the folder of the results; by default the one in the environment."""
    return Path(folder or os.environ.get(FOLDER, "."), "samples", f"{name}.csv")


def write_whole(path: Path, text: str) -> None:
    """Writes a file. It exists either completely or not at all."""
    new = path.with_name(f"{path.name}.new")
    new.write_text(text, encoding="utf-8")
    new.replace(path)


def write_part(path: Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Writes a file. It exists either completely or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_suffix(".new")
    with new.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(columns)
        table.writerows(rows)
    new.replace(path)


def calls_in(visits: Iterable[list[float]], warm_up: Iterable[bool]) -> Iterator[tuple[int, int, float, bool]]:
    """The visit, the repetition, the time, and whether it was warm-up, of each call."""
    repetition = 0
    for visit, (times, cold) in enumerate(zip(visits, warm_up, strict=True)):
        for t in times:
            yield visit, repetition, t, cold
            repetition += 1


def is_head(names: Sequence[str], columns: Sequence[str]) -> bool:
    """Whether a table has these columns. Tables of earlier versions lack some of the last ones."""
    return len(names) >= len(columns) - _NEW_COLUMNS and list(names) == list(columns[: len(names)])


def rows_in(
    paths: Iterable[Path], columns: Sequence[str], command: str, numbers: Mapping[str, str] | None = None
) -> Iterator[dict[str, str]]:
    """A column that a table lacks is empty. ``numbers``: columns whose numbers are checked, and their Arrow types.
    Raises InputError if a table cannot be read, is no table of the command, or has a wrong number."""
    for path in paths:
        try:
            with path.open(newline="", encoding="utf-8") as file:
                table = csv.DictReader(file, restval="")
                if not is_head(table.fieldnames or [], columns):
                    raise InputError(f"{path} is no table of `{command}`")
                lacking = dict.fromkeys(columns[len(table.fieldnames or []) :], "")
                there = {name: kind for name, kind in (numbers or {}).items() if name not in lacking}
                cells = Cells(path, there)
                for row in table:
                    whole = row | lacking
                    if there:
                        cells.check(whole, table.line_num)
                    yield whole
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            raise unreadable(path, error) from None


def join(paths: Iterable[Path], to: Path, columns: Sequence[str]) -> None:
    """Writes all rows into one file."""
    with to.open("w", encoding="utf-8") as file:
        file.write(",".join(columns) + "\r\n")
        for path in paths:
            with path.open(encoding="utf-8") as part:
                lacking = len(columns) - len(next(part).split(","))
                if not lacking:
                    shutil.copyfileobj(part, file)
                for line in part if lacking else ():
                    file.write(line.rstrip("\r\n") + "," * lacking + "\r\n")


def write_parquet(table: Path, to: Path, numbers: Mapping[str, str]) -> None:
    """The rows of a table of join(). ``numbers``: the columns with numbers, and their Arrow types. An empty number
    becomes null. The other columns are texts."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv
    from pyarrow import parquet

    with table.open(encoding="utf-8") as file:
        names = next(csv.reader(file))
    schema = pa.schema([(name, pa.type_for_alias(numbers.get(name, "string"))) for name in names])
    convert = arrow_csv.ConvertOptions(column_types=schema)
    parse = arrow_csv.ParseOptions(newlines_in_values=True)
    with (
        arrow_csv.open_csv(table, parse_options=parse, convert_options=convert) as batches,
        parquet.ParquetWriter(to, schema, compression="zstd") as writer,
    ):
        for batch in batches:
            writer.write_batch(batch)
