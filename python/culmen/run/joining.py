"""Workers of other machines: the study that they share with the master, and the options of users."""

import json
import os
import re
import secrets
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from .. import _core
from .._core import InputError
from ..base.arguments import check_truth, path_in
from ..base.digest import Digest
from ..base.keywords import check_whole
from ..problem.space import fixed_names
from ..store.opening import function_in
from ..study_file import worker_call_of
from ..study_file.listening import ListeningTable

_LONGEST_TOKEN = 1024
_EXAMPLE = "wss://0.0.0.0:7443"


def as_option(name: str, value: object) -> str:
    """A setting as the user of a command types it. ``value``: True for a flag; None: only the name."""
    option = f"--{name.replace('_', '-')}"
    return option if value is True or value is None else f"{option} {value}"


def as_argument(name: str, value: object) -> str:
    """A setting as a program gives it to a function. ``value``: None: only the name."""
    return name if value is None else f"{name}={value!r}"


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

    settings: ListeningTable
    said: Wording = as_option  #: how messages name these settings

    @classmethod
    def of(cls, given: Mapping[str, Any], said: Wording = as_option) -> "Door | None":
        """Makes a Door from the values of settings. None: not given. Raises InputError for settings without effect."""
        values = {name: value for name, value in given.items() if value is not None}
        for name in ("token_file", "certificate"):
            if name in values:
                values[name] = path_in(values[name], name, "run.pem" if name == "certificate" else "token.txt")
        for name in ("io_threads", "largest_message_mib"):
            if name in values:
                check_whole(name, values[name], *ListeningTable.range(name))
        if "insecure" in values:
            check_truth("insecure", values["insecure"])
            values["insecure"] = bool(values["insecure"])
        listen = values.get("listen")
        if listen is None:
            idle = (name for name, value in values.items() if value != ListeningTable.default(name))
            for name in idle:
                raise InputError(f"{said(name, None)} has no effect without {said('listen', _EXAMPLE)}")
            return None
        if not isinstance(listen, str):
            raise InputError(f"listen must be an address such as '{_EXAMPLE}', got {listen!r}")
        return cls(ListeningTable(**values), said)

    @property
    def address(self) -> str:
        return self.settings.listen or ""

    def open(self, study: Shared) -> None:
        """Sets the options of the study. Raises InputError if strangers could join or read the messages."""
        given, token_file = self.settings, self.settings.token_file
        study.options.listen = self.address
        listen = self.said("listen", self.address)
        if not _core.is_loopback(self.address):
            if not (given.insecure or _core.is_encrypted(self.address)):
                raise InputError(
                    f"{listen}: others on the network could read and change what is sent; write wss://…, or add "
                    f"{self.said('insecure', True)}"
                )
            if token_file is None:
                raise InputError(f"{listen}: anyone could join; add {self.said('token_file', 'FILE')}")
        if _core.is_encrypted(self.address):
            study.options.certificate = str(given.certificate or _certificate_file(self.said))
        study.options.token = token_in(token_file, self.said, make=True) if token_file else ""
        study.options.content = content_of(study)
        given.apply("options", study.options)

    @property
    def words(self) -> list[str]:
        """The same settings as options of a command."""
        settings = ListeningTable.settings().items()
        given = [(said.option, getattr(self.settings, name), ListeningTable.default(name)) for name, said in settings]
        return [
            word
            for option, value, default in given
            if value != default
            for word in ([option] if value is True else [option, str(value)])
        ]

    def how_to_join(self, address: str, fingerprint: str, study: Shared) -> str:
        """The command with which other machines join or, for a function of a program, the call. ``address`` and
        ``fingerprint``: those of the run."""
        described = json.loads(study.config.configuration)
        if study.source == "culmen.minimize" or function_in(described):
            known = {"token_file": str(self.settings.token_file or ""), "fingerprint": fingerprint}
            return worker_call_of(
                described, _core.reachable(address), {key: value for key, value in known.items() if value}
            )
        pin = ["--fingerprint", fingerprint] if fingerprint else []
        token = ["--token-file", str(self.settings.token_file)] if self.settings.token_file else []
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
