"""``culmen tune hpl``: searches the settings of HPL, and compares the best ones with the present ones."""

from pathlib import Path

from ...base.text import lasted, shown
from ...tune.hpl.plan import Known
from ...tune.hpl.scaling import bytes_for
from .codes import FINISHED, RESUMABLE
from .measuring import folder_for
from .tune_hpl_results import write_and_show
from .tune_hpl_runs import Options, StoppedError, Tuner

__all__ = ["Options", "tune_hpl"]


def tune_hpl(options: Options, output: Path | None, overwrite: bool, quiet: bool) -> int:
    """Returns an exit code. Raises InputError if an option is wrong, or if HPL fails with the present settings."""
    tuner = Tuner(options, folder_for(output or Path("tune-hpl")), quiet)
    if overwrite:
        tuner.begin_again()
    try:
        _introduce(tuner)
        known = tuner.first()
        _explain(tuner, known)
        new, curve = tuner.best_of(tuner.search())
        compared = tuner.compare(new)
        tuner.remove_folders()
    except StoppedError:
        tuner.remove_folders()
        tuner.say("Not all runs are done; the same command continues.")
        return RESUMABLE
    write_and_show(tuner, new, curve, compared)
    return FINISHED


def _introduce(tuner: Tuner) -> None:
    program = tuner.program
    libraries = ", ".join(program.blas) or program.present_blas
    tuner.say(f"{program.path} with {program.launcher.mpi.title} on {tuner.cores} cores; BLAS: {libraries}")


def _explain(tuner: Tuner, known: Known) -> None:
    plan = known.plan
    if slow := [str(each["blas"]) for each, _, _ in known.tried if each["blas"] not in known.fast_blas]:
        tuner.say(f"Too slow for the search: {', '.join(slow)}")
    tuner.say(
        f"Search with N = {plan.search_n} for {lasted(plan.search_s)}, check of the best with N = {plan.check_n}, "
        f"comparison with N = {plan.final_n}: about {shown(tuner.options.minutes)} min in all"
    )
    left = tuner.available - bytes_for(plan.memory_n)
    tuner.say(
        f"For the whole machine, N = {plan.memory_n} fits into {bytes_for(plan.memory_n) / 2**30:.3g} GiB of memory; "
        f"{left / 2**30:.3g} GiB remain for the system, the MPI and the BLAS"
    )
