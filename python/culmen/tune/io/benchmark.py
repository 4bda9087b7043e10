"""culmen's own benchmark of files, which runs if the user gives no command."""

from dataclasses import dataclass

from ..._core import InputError
from ...bench.words import MOST_BYTES, check_known, one_size
from ...launch.launcher import cores, situations
from ...launch.mpi import LauncherError, find_launcher
from ...launch.programs import own_program
from . import applied

_PATTERNS = ("file-per-process", "contiguous", "strided", "collective")
_APIS = ("mpiio", "posix")
_RATES = {"both": "rate", "write": "write", "read": "read"}


@dataclass(frozen=True)
class Own:
    """The benchmark that runs without a command."""

    pattern: str | None
    api: str
    measure: str
    ranks: int | None
    size: str
    transfer: str
    mpi: str | None

    def words(self) -> tuple[list[str], dict[str, str]]:
        """The command, and variables of the launcher. Raises InputError for a wrong option."""
        check_known("--pattern", "pattern", [self.pattern or ""], _PATTERNS)
        check_known("--api", "interface", [self.api], _APIS)
        check_known("--measure", "part", [self.measure], tuple(_RATES))
        if self.pattern == "collective" and self.api == "posix":
            raise InputError("--pattern collective needs --api mpiio: POSIX has no collective calls")
        size, transfer = one_size(self.size, "--size"), one_size(self.transfer, "--transfer")
        if size > MOST_BYTES:
            raise InputError(f"--size {self.size} must be at most {MOST_BYTES} bytes")
        if transfer % 8 or not 8 <= transfer <= min(size, 2**24):
            raise InputError(f"--transfer {self.transfer} must be a multiple of 8 bytes, at most 16M and --size")
        try:
            launcher = find_launcher(self.mpi)
        except LauncherError as error:
            raise InputError(str(error)) from None
        program = own_program(f"iobench_{launcher.mpi.module}")
        if not program.exists():
            raise InputError(f"culmen was built without the benchmark for {launcher.mpi.title}; build it again")
        ranks = self.ranks or cores()
        parts = situations(launcher, ranks, True)
        flags = [flag for part in parts for flag in part.flags]
        variables = {name: value for part in parts for name, value in part.environment.items()}
        count = str(size // transfer * transfer)
        words = [str(program), str(self.pattern), self.api, count, str(transfer), applied.FOLDER]
        return [launcher.program, *flags, "-n", str(ranks), *words], variables

    def figure(self) -> str:
        return rf"{_RATES[self.measure]} = (\S+)"
