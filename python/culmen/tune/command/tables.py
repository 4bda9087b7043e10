"""The tables of a file for ``culmen tune command``: those of a study file, and three more."""

from typing import Annotated, Literal

from pydantic import Field

from ...study_file import StudyFile
from ...study_file.table import WHOLE, Setting, Table


class BuildTable(Table):
    """``[build]``"""

    command: Annotated[
        list[str],
        Field(min_length=1),
        Setting(
            "the words of the command that builds the program. In these words, `{level}` stands for the value of the "
            "parameter `level`, and `{build}` for the folder of the build",
            default="required",
        ),
    ]
    sources: Annotated[
        list[str], Setting("files and folders that culmen copies into the folder of the build, in which the build runs")
    ] = Field(default_factory=list)


class TuneTable(Table):
    """``[tune]``"""

    measure: Annotated[
        Literal["wall_time", "cpu_time", "memory", "energy"] | None,
        Setting(
            "what to minimize without `[objectives]` and without `value` in `[evaluator]`: `wall_time`, `cpu_time`, "
            "`memory` or `energy`",
            default='`"wall_time"`',
        ),
    ] = None
    weights: Annotated[
        dict[str, Annotated[float, Field(gt=0, le=100)]],
        Setting(
            "only with several objectives: exponents of objectives in the combined value, for example "
            "`{ energy_j = 0.5 }`. The exponent of all other objectives is 1"
        ),
    ] = Field(default_factory=dict)
    rounds: Annotated[
        Annotated[int, Field(ge=3, le=1000), WHOLE],
        Setting(
            "number of rounds of the comparison at the end, at least 3. In each round, the program runs once with the "
            "present settings, once with the best settings, and sometimes once with a third set of settings"
        ),
    ] = 10
    price_per_core_hour: Annotated[
        Annotated[float, Field(ge=0, le=1e6)] | None, Setting("the price of an hour of one core, in any currency")
    ] = None
    cores: Annotated[
        Annotated[int, Field(ge=1, le=10_000_000), WHOLE] | None,
        Setting(
            "number of cores that the program occupies. culmen uses this number only to compute the cost",
            default="all cores of this machine",
        ),
    ] = None
    use_hours: Annotated[
        Annotated[float, Field(gt=0, le=1e9)] | None,
        Setting(
            "number of hours for which you will use the program in the future. With this key, the search stops when "
            "further runs no longer pay"
        ),
    ] = None
    use_runs: Annotated[
        Annotated[int, Field(ge=1, le=10**12), WHOLE] | None,
        Setting(
            "instead of `use_hours`: number of times that you will run the program in the future. culmen assumes that "
            "each of these runs takes as long as a run with the present settings"
        ),
    ] = None
    expand: Annotated[
        str | None,
        Setting(
            "a Python file. Its function `expanded(words)` gets the words of `command` in `[evaluator]`, and returns "
            "the words of the command that culmen then runs",
            default="`command` as it is",
        ),
    ] = None


class JobTable(Table):
    """``[job]``: for ``--submit``"""

    partition: Annotated[
        str | None, Setting("the partition of the job (for LSF: the queue)", default="the default of the cluster")
    ] = None
    nodes: Annotated[Annotated[int, Field(ge=1, le=10**6), WHOLE] | None, Setting("number of nodes", default="1")] = (
        None
    )
    tasks_per_node: Annotated[
        Annotated[int, Field(ge=1, le=10**6), WHOLE] | None,
        Setting("number of tasks on each node", default="one for each core"),
    ] = None
    time: Annotated[
        str | None, Setting("the time limit of the job, as for `sbatch`", default="estimated by culmen")
    ] = None
    exclusive: Annotated[bool | None, Setting("if true, no other job uses the nodes of this job", default="false")] = (
        None
    )
    account: Annotated[str | None, Setting("the account of the job", default="that of the site file, or none")] = None
    qos: Annotated[
        str | None, Setting("the quality of service of the job; not for LSF", default="that of the site file, or none")
    ] = None


class RecipeFile(StudyFile):
    build: Annotated[BuildTable | None, Setting("how to build the program", default="no build")] = None
    tune: Annotated[TuneTable, Setting("what to measure, and how to judge it")] = TuneTable()
    job: Annotated[JobTable, Setting("what the job gets, with --submit")] = JobTable()
