"""Options of `culmen run`, `culmen resume` and `culmen errors` that come from a table. Written by tools/quote_settings."""

from pathlib import Path
from typing import Annotated

import typer

Workers = Annotated[
    int | None,
    typer.Option(
        "--workers",
        min=1,
        max=65536,
        metavar="N",
        help="Number of evaluations in parallel. Default: as in the study, otherwise one per CPU.",
    ),
]
TeamSize = Annotated[
    int | None,
    typer.Option(
        "--team-size",
        min=1,
        max=65536,
        metavar="N",
        help="Under MPI, this number of ranks (a team) evaluates each candidate together. Default: as in the study, otherwise each rank evaluates alone.",
    ),
]
TeamPlacement = Annotated[
    str | None,
    typer.Option(
        "--team-placement",
        metavar="node|any",
        help='With "node", all ranks of a team are on one node. Default: as in the study.',
    ),
]
Evaluations = Annotated[
    int | None,
    typer.Option(
        "--evaluations",
        min=1,
        max=9223372036854775807,
        metavar="N",
        help="The study ends after this number of evaluations. Default: as in the study.",
    ),
]
Target = Annotated[
    float | None,
    typer.Option(
        "--target",
        metavar="X",
        help="The study ends when it finds this value or a better value. Default: as in the study.",
    ),
]
Stagnation = Annotated[
    int | None,
    typer.Option(
        "--stagnation",
        min=1,
        max=9223372036854775807,
        metavar="N",
        help="The study ends after this number of evaluations without an improvement. Default: as in the study.",
    ),
]
WallTime = Annotated[
    float | None,
    typer.Option(
        "--wall-time",
        min=0,
        metavar="SECONDS",
        help="The run ends after this number of seconds (0 means no limit), and you can resume the study. Default: as in the study.",
    ),
]
Listen = Annotated[
    list[str] | None,
    typer.Option(
        "--listen",
        metavar="ADDRESS",
        help="An address such as wss://0.0.0.0:7443, at which workers of other machines can join the run. On standard error, the run prints the address and other information that the workers need. Without MPI, by default no worker runs on this machine. To start workers on this machine, give --workers. wss is encrypted, but ws and tcp are not encrypted. Therefore ws and tcp require --insecure, except at the address 127.0.0.1.",
    ),
]
TokenFile = Annotated[
    Path | None,
    typer.Option(
        "--token-file",
        metavar="FILE",
        help="With --listen, a file that contains the token. The token is a password that each worker must know. If the file does not exist, culmen creates it with a random token. At 127.0.0.1, no token is necessary.",
    ),
]
Certificate = Annotated[
    Path | None,
    typer.Option(
        "--certificate",
        metavar="FILE",
        help="With wss, a file with the certificate of the run and the private key, in PEM format. If the file does not exist, culmen creates it. Default: ~/.local/share/culmen/certificate.pem.",
    ),
]
Insecure = Annotated[
    bool | None, typer.Option("--insecure", help="With --listen, allow unencrypted connections from other machines.")
]
IoThreads = Annotated[
    int | None,
    typer.Option(
        "--io-threads",
        min=1,
        max=256,
        metavar="N",
        help="With --listen, number of threads that encrypt, send and receive messages. Hundreds of workers with short evaluations may need more than one thread. Default: 1.",
    ),
]
LargestMessageMib = Annotated[
    int | None,
    typer.Option(
        "--largest-message-mib",
        min=1,
        max=4095,
        metavar="N",
        help="With --listen, the largest message that a worker may send, in MiB. culmen refuses a worker that sends a larger message. Default: 1024.",
    ),
]
SETTINGS = {
    "workers": Workers,
    "team_size": TeamSize,
    "team_placement": TeamPlacement,
    "evaluations": Evaluations,
    "target": Target,
    "stagnation": Stagnation,
    "wall_time_s": WallTime,
}

LISTENING = {
    "listen": Listen,
    "token_file": TokenFile,
    "certificate": Certificate,
    "insecure": Insecure,
    "io_threads": IoThreads,
    "largest_message_mib": LargestMessageMib,
}
