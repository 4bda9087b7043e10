"""The settings of a run that waits for workers of other machines. They are no keys of a study file: they belong to a
run, and a store does not keep them."""

from pathlib import Path
from typing import Annotated

from pydantic import Field

from .table import Setting, Table


class ListeningTable(Table):
    """``culmen.minimize``, ``Study.run`` and the options of ``culmen run``, ``resume`` and ``errors`` take these."""

    listen: Annotated[
        str | None,
        Setting(
            "an address such as `wss://0.0.0.0:7443`, at which workers of other machines can join the run. On standard "
            "error, the run prints the address and other information that the workers need. Without MPI, by default no "
            "worker runs on this machine. To start workers on this machine, give `workers`. `wss` is encrypted, but "
            "`ws` and `tcp` are not encrypted. Therefore `ws` and `tcp` require `insecure`, except at the address "
            "`127.0.0.1`",
            option="--listen",
            metavar="ADDRESS",
        ),
    ] = None
    token_file: Annotated[
        Path | None,
        Setting(
            "with `listen`, a file that contains the token. The token is a password that each worker must know. If the "
            "file does not exist, culmen creates it with a random token. At `127.0.0.1`, no token is necessary",
            option="--token-file",
            metavar="FILE",
        ),
    ] = None
    certificate: Annotated[
        Path | None,
        Setting(
            "with `wss`, a file with the certificate of the run and the private key, in PEM format. If the file does "
            "not exist, culmen creates it",
            default="`~/.local/share/culmen/certificate.pem`",
            option="--certificate",
            metavar="FILE",
        ),
    ] = None
    insecure: Annotated[
        bool,
        Setting(
            "with `listen`, allow unencrypted connections from other machines",
            option="--insecure",
        ),
    ] = False
    io_threads: Annotated[
        int,
        Field(ge=1, le=256),
        Setting(
            "with `listen`, number of threads that encrypt, send and receive messages. Hundreds of workers with short "
            "evaluations may need more than one thread",
            sets="options",
            option="--io-threads",
        ),
    ] = 1
    largest_message_mib: Annotated[
        int,
        Field(ge=1, le=4095),
        Setting(
            "with `listen`, the largest message that a worker may send, in MiB. culmen refuses a worker that sends a "
            "larger message",
            sets="options",
            option="--largest-message-mib",
        ),
    ] = 1024

    @classmethod
    def default(cls, name: str) -> object:
        return cls.model_fields[name].get_default()

    @classmethod
    def range(cls, name: str) -> tuple[int, int]:
        """The smallest and the largest value of a whole number."""
        low, high = (
            getattr(bound, end)
            for end in ("ge", "le")
            for bound in cls.model_fields[name].metadata
            if hasattr(bound, end)
        )
        return low, high
