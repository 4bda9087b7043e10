"""Workers of other machines: what they and the master must agree on, and what a user types."""

import ipaddress
import json
import os
import re
import secrets
import shlex
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

from .. import _core
from .._core import InputError
from ..base.digest import Digest
from ..base.keywords import check_whole
from ..problem.space import fixed_names
from ..store.opening import function_in
from ..study_file import worker_call_of

_LONGEST_TOKEN = 1024
_MOST_IO_THREADS = 256


class Shared(Protocol):
    """A study, as far as workers of other machines need it."""

    config: _core.StudyConfig
    options: _core.RunOptions
    evaluator_digest: Digest | None
    source: str


@dataclass(frozen=True)
class Door:
    """Where a run waits for workers, as a user says it."""

    address: str  #: such as wss://0.0.0.0:7443
    token_file: Path | None = None
    certificate: Path | None = None
    insecure: bool = False  #: no encryption is wanted
    io_threads: int = 1  #: that encrypt, send and receive
    in_program: bool = False  #: these are the arguments of a function, not options of a command

    @classmethod
    def of_program(
        cls,
        listen: str | None,
        token_file: str | Path | None,
        certificate: str | Path | None,
        insecure: bool,
        io_threads: int,
    ) -> "Door | None":
        """From the arguments of a function. Raises InputError for those that have no effect."""
        given = {
            "token_file": token_file is not None,
            "certificate": certificate is not None,
            "insecure": insecure,
            "io_threads": io_threads != 1,
        }
        if listen is None:
            for name in (name for name, is_given in given.items() if is_given):
                raise InputError(f"{name} has no effect without listen; give listen='wss://0.0.0.0:7443', or remove it")
            return None
        if not isinstance(listen, str):
            raise InputError(f"listen must be an address such as 'wss://0.0.0.0:7443', got {listen!r}")
        check_whole("io_threads", io_threads, 1, _MOST_IO_THREADS)
        token, own = (None if file is None else Path(file) for file in (token_file, certificate))
        return cls(listen, token, own, insecure, io_threads, in_program=True)

    def open(self, study: Shared) -> None:
        """Sets the options of the study. Raises InputError if strangers could join, or read what is sent."""
        study.options.listen = self.address
        listen = f"listen={self.address!r}" if self.in_program else f"--listen {self.address}"
        if not is_loopback(self.address):
            if not (self.insecure or self.address.startswith("wss://")):
                raise InputError(
                    f"{listen}: others on the network could read and change what is sent; write wss://…, or add "
                    f"{'insecure=True' if self.in_program else '--insecure'}"
                )
            if self.token_file is None:
                token = 'token_file="token.txt"' if self.in_program else "--token-file FILE"
                raise InputError(f"{listen}: anyone could join; add {token}")
        if self.address.startswith("wss://"):
            study.options.certificate = str(self.certificate or _certificate_file(self.in_program))
        study.options.token = token_in(self.token_file, self.in_program, make=True) if self.token_file else ""
        study.options.content = content_of(study)
        study.options.io_threads = self.io_threads

    @property
    def words(self) -> list[str]:
        """The options that say the same."""
        files = {"--token-file": self.token_file, "--certificate": self.certificate}
        given = [word for option, path in files.items() if path for word in (option, str(path))]
        threads = ["--io-threads", str(self.io_threads)] if self.io_threads > 1 else []
        return ["--listen", self.address, *given, *(["--insecure"] if self.insecure else []), *threads]

    def how_to_join(self, address: str, fingerprint: str, study: Shared) -> str:
        """The command or, for a function of a program, the call for other machines. ``address`` and ``fingerprint``:
        those of the run."""
        described = json.loads(study.config.configuration)
        if study.source == "culmen.minimize" or function_in(described):
            known = {"token_file": self.token_file and str(self.token_file), "fingerprint": fingerprint}
            return worker_call_of(described, _reachable(address), {key: value for key, value in known.items() if value})
        pin = ["--fingerprint", fingerprint] if fingerprint else []
        token = ["--token-file", str(self.token_file)] if self.token_file else []
        file = study.source if study.source.endswith(".toml") else "STUDY.toml"
        space = study.config.space
        fixed = set(fixed_names(space))
        fix = [f"--fix={name}={value}" for name, value in space.named(space.start()).items() if name in fixed]
        return shlex.join(["culmen", "worker", _reachable(address), "--study", file, *fix, *token, *pin])


def token_in(path: Path, in_program: bool = False, make: bool = False) -> str:
    """The token in a file. ``make``: a missing file gets a new token, which only its owner can read."""
    said = f"token_file={str(path)!r}" if in_program else f"--token-file {path}"
    try:
        if make and not path.exists():
            path.touch(mode=0o600)
            path.write_text(f"{secrets.token_urlsafe(32)}\n")
        token = path.read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{said}: it cannot be read: {_reason(error)}") from None
    if not 0 < len(token) <= _LONGEST_TOKEN:
        raise InputError(f"{said}: a token has 1 to {_LONGEST_TOKEN} characters, this one has {len(token)}")
    return token


def pin_in(fingerprint: str | None, in_program: bool = False) -> str:
    """64 hexadecimal digits; empty: none is given. Colons and capitals are taken, too."""
    pin = (fingerprint or "").replace(":", "").lower()
    if fingerprint is not None and not re.fullmatch("[0-9a-f]{64}", pin):
        said = f"fingerprint={fingerprint!r}" if in_program else f"--fingerprint {fingerprint}"
        raise InputError(f"{said}: a fingerprint has 64 hexadecimal digits (SHA-256)")
    return pin


def content_of(study: Shared) -> str:
    """The digest of the files that an evaluation uses, or of a program's function with the values that it captures. A
    program outside the study's folder is not among them: it differs from machine to machine.

    Raises InputError for a function without a digest."""
    found = study.evaluator_digest or {}
    spec = study.config.evaluator
    if function := function_in(json.loads(study.config.configuration)):
        if "sha256" not in found:
            raise InputError(
                f"{function} has no Python code, so culmen cannot check that workers of other machines evaluate the "
                "same function; call it in a Python function of your own"
            )
        return json.dumps({key: found.get(key) for key in ("python", "sha256", "captured", "data")}, sort_keys=True)
    elsewhere = spec.kind == "command" and not Path(spec.command[0]).is_relative_to(spec.base_folder)
    return json.dumps({"sha256": None if elsewhere else found.get("sha256"), "data": found.get("data")}, sort_keys=True)


def _certificate_file(in_program: bool = False) -> Path:
    """In the user's data folder (XDG Base Directory Specification)."""
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local/share"
    path = Path(data, "culmen", "certificate.pem")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        instead = "certificate='FILE'" if in_program else "--certificate FILE"
        raise InputError(f"the folder for the certificate cannot be made: {error}; give {instead}") from None
    return path


def _reason(error: Exception) -> str:
    return error.strerror or str(error) if isinstance(error, OSError) else "it is no text"


def is_loopback(address: str) -> bool:
    host = urlsplit(address).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _reachable(address: str) -> str:
    """The host's name, where the address stands for all of its addresses."""
    parts = urlsplit(address)
    return f"{parts.scheme}://{socket.gethostname()}:{parts.port}" if parts.hostname in ("0.0.0.0", "::") else address  # noqa: S104
