"""The request for batch jobs: the options, the cluster, and the work."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...launch.scheduler import scheduler_named
from ...launch.scheduler.fitting import partitions_named, shape_of
from ...launch.scheduler.job import Partition, Scheduler
from ...launch.scheduler.site import Site, read_site
from ..kept import remove_rounds
from ..measuring import End
from ..study import left_in


@dataclass(frozen=True)
class Wanted:
    """The options of a job. None if an option is not given."""

    scheduler: str
    partition: str | None = None
    nodes: int | None = None
    tasks_per_node: int | None = None
    time: str | None = None
    exclusive: bool = False
    account: str | None = None
    qos: str | None = None
    site: Path | None = None
    dry_run: bool = False
    pilot: int | None = None


@dataclass(frozen=True)
class Cluster:
    """The scheduler, partitions and site of the jobs. ``partitions``: those that the user asked for."""

    wanted: Wanted
    scheduler: Scheduler
    partitions: list[Partition]
    site: Site

    @classmethod
    def of(cls, wanted: Wanted) -> "Cluster":
        """Raises InputError if the cluster lacks a requested scheduler or partition."""
        scheduler = scheduler_named(wanted.scheduler)
        site = read_site(wanted.site)
        return cls(wanted, scheduler, partitions_named(wanted.partition, scheduler.partitions()), site)

    def room(self) -> int:
        """The number of tasks that each of the jobs has at least."""
        nodes, per_node = self.wanted.nodes, self.wanted.tasks_per_node
        shapes = [shape_of(each, 0, nodes, per_node) for each in self.partitions]
        return min(nodes * tasks for nodes, tasks in shapes)

    def most_cpus(self) -> int:
        """The number of hardware threads that the largest of the jobs has at most."""
        counts = [shape_of(each, 0, self.wanted.nodes, self.wanted.tasks_per_node)[0] for each in self.partitions]
        return max(nodes * each.cpus for nodes, each in zip(counts, self.partitions, strict=True))


@dataclass(frozen=True)
class Task:
    """The work of a job. ``arguments``: the arguments of culmen in the job. ``tasks``: the least number of tasks of the
    scheduler. ``store``: the name of the file. ``what``: the kind of its points, for messages. ``missing``: the number
    of points of a store, also a new one, that a job must measure; raises InputError for a store of other points.
    ``conclude``: gets the folders with results, the folder for the tables, and whether all points are measured.
    ``left``: gets a store and the number of all points; returns the numbers of points without an outcome, and of failed
    points. ``clear``: removes the measurements. ``is_complete``: gets a folder with all points, and says whether the
    job also did the work after them. ``after``: words of the command after ``--``. ``rest_s``: gets a store, also a new
    one, and returns the longest time of the work that is left; None: in proportion to the missing points."""

    name: str
    arguments: list[str]
    tasks: int
    store: str
    what: str
    points: int
    most_s: float
    missing: Callable[[Path], int]
    conclude: Callable[[list[Path], Path, End], int]
    left: Callable[[Path, int], tuple[int, int]] = left_in
    clear: Callable[[Path], None] = remove_rounds
    is_complete: Callable[[Path], bool] = lambda _folder: True
    after: Sequence[str] = ()
    rest_s: Callable[[Path], float] | None = None

    @property
    def typed(self) -> list[str]:
        """The command in the job, without its folders."""
        return [*self.arguments, *(["--", *self.after] if self.after else [])]
