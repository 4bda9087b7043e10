"""Workers of other machines: the study that they share with the master, and the options of users."""

import json
import os
import re
import secrets
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from .. import _core
from .._core import InputError
from ..base.arguments import check_truth, path_in
from ..base.digest import Digest
from ..base.keywords import check_whole
from ..problem.space import fixed_names
from ..store.opening import function_in
from ..study_file import worker_call_of

_LONGEST_TOKEN = 1024
_MOST_IO_THREADS = 256
LARGEST_MESSAGE_MIB = 1024  # unless the user says another size
_MOST_MESSAGE_MIB = 4095


def as_option(name: str, value: object) -> str:
    """A setting as the user of a command types it. ``value``: True for a flag."""
    option = f"--{name.replace('_', '-')}"
    return option if value is True else f"{option} {value}"


def as_argument(name: str, value: object) -> str:
    """A setting as a program gives it to a function."""
    return f"{name}={value!r}"


Wording = Callable[[str, object], str]


class Shared(Protocol):
    """The parts of a study that workers of other machines need."""

    config: _core.StudyConfig
    options: _core.RunOptions
    evaluator_digest: Digest | None
    source: str


@dataclass(frozen=True)
class Door:
    """The address at which a run waits for workers, and its settings, as the user gave them."""

    address: str  #: such as wss://0.0.0.0:7443
    token_file: Path | None = None
    certificate: Path | None = None
    insecure: bool = False  #: the user allows a connection without encryption
    io_threads: int = 1  #: that encrypt, send and receive
    largest_message_mib: int = LARGEST_MESSAGE_MIB  #: of a worker
    said: Wording = as_option  #: how messages name these settings

    @classmethod
    def of_program(
        cls,
        listen: str | None,
        token_file: str | Path | None,
        certificate: str | Path | None,
        insecure: bool,
        io_threads: int,
        largest_message_mib: int,
    ) -> "Door | None":
        """Makes a Door from the arguments of a function. Raises InputError for arguments without effect."""
        check_truth("insecure", insecure)
        check_whole("io_threads", io_threads, 1, _MOST_IO_THREADS)
        check_whole("largest_message_mib", largest_message_mib, 1, _MOST_MESSAGE_MIB)
        given = {
            "token_file": token_file is not None,
            "certificate": certificate is not None,
            "insecure": insecure,
            "io_threads": io_threads != 1,
            "largest_message_mib": largest_message_mib != LARGEST_MESSAGE_MIB,
        }
        if listen is None:
            for name in (name for name, is_given in given.items() if is_given):
                raise InputError(f"{name} has no effect without listen; give listen='wss://0.0.0.0:7443', or remove it")
            return None
        if not isinstance(listen, str):
            raise InputError(f"listen must be an address such as 'wss://0.0.0.0:7443', got {listen!r}")
        token = None if token_file is None else path_in(token_file, "token_file", "token.txt")
        own = None if certificate is None else path_in(certificate, "certificate", "run.pem")
        return cls(listen, token, own, insecure, io_threads, largest_message_mib, as_argument)

    def open(self, study: Shared) -> None:
        """Sets the options of the study. Raises InputError if strangers could join or read the messages."""
        study.options.listen = self.address
        listen = self.said("listen", self.address)
        if not _core.is_loopback(self.address):
            if not (self.insecure or _core.is_encrypted(self.address)):
                raise InputError(
                    f"{listen}: others on the network could read and change what is sent; write wss://…, or add "
                    f"{self.said('insecure', True)}"
                )
            if self.token_file is None:
                raise InputError(f"{listen}: anyone could join; add {self.said('token_file', 'FILE')}")
        if _core.is_encrypted(self.address):
            study.options.certificate = str(self.certificate or _certificate_file(self.said))
        study.options.token = token_in(self.token_file, self.said, make=True) if self.token_file else ""
        study.options.content = content_of(study)
        study.options.io_threads = self.io_threads
        study.options.largest_message_mib = self.largest_message_mib

    @property
    def words(self) -> list[str]:
        """The same settings as options of a command."""
        files = {"--token-file": self.token_file, "--certificate": self.certificate}
        given = [word for option, path in files.items() if path for word in (option, str(path))]
        threads = ["--io-threads", str(self.io_threads)] if self.io_threads > 1 else []
        size = ["--largest-message-mib", str(self.largest_message_mib)]
        message = size if self.largest_message_mib != LARGEST_MESSAGE_MIB else []
        return ["--listen", self.address, *given, *(["--insecure"] if self.insecure else []), *threads, *message]

    def how_to_join(self, address: str, fingerprint: str, study: Shared) -> str:
        """The command with which other machines join or, for a function of a program, the call. ``address`` and
        ``fingerprint``: those of the run."""
        described = json.loads(study.config.configuration)
        if study.source == "culmen.minimize" or function_in(described):
            known = {"token_file": self.token_file and str(self.token_file), "fingerprint": fingerprint}
            return worker_call_of(
                described, _core.reachable(address), {key: value for key, value in known.items() if value}
            )
        pin = ["--fingerprint", fingerprint] if fingerprint else []
        token = ["--token-file", str(self.token_file)] if self.token_file else []
        file = study.source if study.source.endswith(".toml") else _study_file_of(study.options.store)
        space = study.config.space
        fixed = set(fixed_names(space))
        fix = [f"--fix={name}={value}" for name, value in space.named(space.start()).items() if name in fixed]
        return shlex.join(["culmen", "worker", _core.reachable(address), "--study", file, *fix, *token, *pin])


def _study_file_of(store: str) -> str:
    """The likely study file of a store: a store does not know it, but it usually has the same name."""
    file = Path(store).with_suffix(".toml")
    return str(file) if store and file.exists() else "STUDY.toml"


def token_in(path: Path, said: Wording = as_option, make: bool = False) -> str:
    """The token in a file. ``make``: a missing file gets a new token, which only its owner can read."""
    file = said("token_file", str(path))
    if make:
        try:
            _make_token(path)
        except OSError as error:
            raise InputError(f"{file}: it cannot be created: {_reason(error)}") from None
    try:
        token = path.read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        hint = "; copy it from the machine of the run" if isinstance(error, FileNotFoundError) else ""
        raise InputError(f"{file}: it cannot be read: {_reason(error)}{hint}") from None
    if not token:
        hint = "delete it, and the run writes a new one" if make else "copy it again from the machine of the run"
        raise InputError(f"{file}: it is empty; {hint}")
    if len(token) > _LONGEST_TOKEN:
        raise InputError(f"{file}: a token has 1 to {_LONGEST_TOKEN} characters, this one has {len(token)}")
    return token


def _make_token(path: Path) -> None:
    """Makes the token file, unless it exists or another process is making it. The file appears complete or not at
    all."""
    if path.exists():
        return
    new = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(f"{secrets.token_urlsafe(32)}\n")
        try:
            os.link(new, path)
        except FileExistsError:
            pass
        except OSError:  # a file system without links
            new.replace(path)
    finally:
        new.unlink(missing_ok=True)


def pin_in(fingerprint: str | None, said: Wording = as_option) -> str:
    """The fingerprint as 64 hexadecimal digits; empty if none is given. Colons and capital letters are allowed."""
    pin = (fingerprint or "").replace(":", "").lower()
    if fingerprint is not None and not re.fullmatch("[0-9a-f]{64}", pin):
        raise InputError(f"{said('fingerprint', fingerprint)}: a fingerprint has 64 hexadecimal digits (SHA-256)")
    return pin


def check_pin(address: str, fingerprint: str | None, said: Wording = as_option) -> None:
    """Raises InputError if the scheme of the address does not use a fingerprint."""
    if fingerprint is not None and not _core.is_encrypted(address):
        scheme = address.partition("://")[0]
        raise InputError(
            f"{said('fingerprint', fingerprint)}: only wss:// has a certificate, and {address} begins with "
            f"{scheme}://; write the address that the run prints, or remove the fingerprint"
        )


def content_of(study: Shared) -> str:
    """The digest of the files that an evaluation uses, or of a program's function and the values that it captures. It
    leaves out a program outside the study's folder, which differs from machine to machine.

    Raises InputError for a function without a digest."""
    found = study.evaluator_digest or {}
    spec = study.config.evaluator
    if function := function_in(json.loads(study.config.configuration)):
        if "sha256" not in found:
            raise InputError(
                f"{function} has no Python code, so culmen cannot check that workers of other machines evaluate the "
                "same function; call it in a Python function of your own"
            )
        return json.dumps({key: found.get(key) for key in ("python", "sha256", "values", "data")}, sort_keys=True)
    elsewhere = spec.kind == "command" and not Path(spec.command[0]).is_relative_to(spec.base_folder)
    modules = {name: module["sha256"] for name, module in found.get("modules", {}).items()}
    sha = None if elsewhere else found.get("sha256")
    return json.dumps({"sha256": sha, "data": found.get("data"), "modules": modules}, sort_keys=True)


def _certificate_file(said: Wording) -> Path:
    """The path of the certificate in the user's data folder (XDG Base Directory Specification)."""
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local/share"
    path = Path(data, "culmen", "certificate.pem")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        instead = said("certificate", "FILE")
        raise InputError(f"the folder for the certificate cannot be made: {error}; give {instead}") from None
    return path


def _reason(error: Exception) -> str:
    return error.strerror or str(error) if isinstance(error, OSError) else "it is no text"
