"""A tuning of HPL as a batch job: its time, and how far it is."""

from collections.abc import Callable
from pathlib import Path

from ...bench.jobs.asked import Cluster, Task
from ...bench.measuring import End
from ..command.job_time import seconds_in
from ..command.submitted import check_partitions, result_of, typed_words
from .job_time import rest_s
from .options import Options
from .plan import CHECK_SHARE, SEARCH_SHARE
from .runs import FIRST, remove_results, stores_in

NAME = "hpl"
_PERCENT = 100


def task_for(
    options: Options, words: list[str], cluster: Cluster, conclude: Callable[[list[Path], Path, End], int]
) -> Task:
    """``words``: options of the command in the job. The progress of the job is the share of its time, because no
    number of runs is known before. Raises InputError if the cluster has several partitions."""
    check_partitions(cluster)
    typed, budget_s = typed_words(NAME, words, [*options.words]), 60 * options.minutes
    if options.compare_random:
        budget_s *= 1 + SEARCH_SHARE + CHECK_SHARE

    def left(store: Path) -> int:
        if result_of(store.parent, typed):
            return 0
        return max(1, _PERCENT - int(_PERCENT * seconds_in(*stores_in(store.parent)) / budget_s))

    return Task(
        f"tune-{NAME}",
        ["tune", NAME, *words],
        0,
        FIRST,
        "% of the time",
        _PERCENT,
        budget_s,
        left,
        conclude,
        left=lambda store, _: (left(store), 0),
        clear=lambda store: remove_results(store.parent),
        after=options.words,
        rest_s=lambda store: rest_s(store.parent, options),
    )
