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
from urllib.parse import urlsplit

from .._core import InputError
from ..problem.space import fixed_names
from .study import Study

_LONGEST_TOKEN = 1024


@dataclass(frozen=True)
class Door:
    """Where a run waits for workers, as a user says it."""

    address: str  #: such as wss://0.0.0.0:7443
    token_file: Path | None = None
    certificate: Path | None = None
    insecure: bool = False  #: no encryption is wanted
    io_threads: int = 1  #: that encrypt, send and receive

    def open(self, study: Study) -> None:
        """Sets the options of the study. Raises InputError if strangers could join, or read what is sent."""
        study.options.listen = self.address
        if not _is_loopback(self.address):
            if not (self.insecure or self.address.startswith("wss://")):
                raise InputError(
                    f"--listen {self.address}: others on the network could read and change what is sent; write "
                    "wss://…, or add --insecure"
                )
            if self.token_file is None:
                raise InputError(f"--listen {self.address}: anyone could join; add --token-file FILE")
        if self.address.startswith("wss://"):
            study.options.certificate = str(self.certificate or _certificate_file())
        study.options.token = token_in(self.token_file, make=True) if self.token_file else ""
        study.options.content = content_of(study)
        study.options.io_threads = self.io_threads

    @property
    def words(self) -> list[str]:
        """The options that say the same."""
        files = {"--token-file": self.token_file, "--certificate": self.certificate}
        given = [word for option, path in files.items() if path for word in (option, str(path))]
        threads = ["--io-threads", str(self.io_threads)] if self.io_threads > 1 else []
        return ["--listen", self.address, *given, *(["--insecure"] if self.insecure else []), *threads]

    def how_to_join(self, address: str, fingerprint: str, study: Study) -> str:
        """The command for other machines. ``address`` and ``fingerprint``: those of the run."""
        pin = ["--fingerprint", fingerprint] if fingerprint else []
        token = ["--token-file", str(self.token_file)] if self.token_file else []
        file = study.source if study.source.endswith(".toml") else "STUDY.toml"
        space = study.config.space
        fixed = set(fixed_names(space))
        fix = [f"--fix={name}={value}" for name, value in space.named(space.start()).items() if name in fixed]
        return shlex.join(["culmen", "worker", _reachable(address), "--study", file, *fix, *token, *pin])


def token_in(path: Path, make: bool = False) -> str:
    """The token in a file. ``make``: a missing file gets a new token, which only its owner can read."""
    try:
        if make and not path.exists():
            path.touch(mode=0o600)
            path.write_text(f"{secrets.token_urlsafe(32)}\n")
        token = path.read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"--token-file {path}: it cannot be read: {_reason(error)}") from None
    if not 0 < len(token) <= _LONGEST_TOKEN:
        raise InputError(
            f"--token-file {path}: a token has 1 to {_LONGEST_TOKEN} characters, this one has {len(token)}"
        )
    return token


def pin_in(fingerprint: str | None) -> str:
    """64 hexadecimal digits; empty: none is given. Colons and capitals are taken, too."""
    pin = (fingerprint or "").replace(":", "").lower()
    if fingerprint is not None and not re.fullmatch("[0-9a-f]{64}", pin):
        raise InputError(f"--fingerprint {fingerprint}: a fingerprint has 64 hexadecimal digits (SHA-256)")
    return pin


def content_of(study: Study) -> str:
    """The digest of the files that an evaluation uses. A program outside the study's folder is not among them: it
    differs from machine to machine."""
    found = study.evaluator_digest or {}
    spec = study.config.evaluator
    elsewhere = spec.kind == "command" and not Path(spec.command[0]).is_relative_to(spec.base_folder)
    return json.dumps({"sha256": None if elsewhere else found.get("sha256"), "data": found.get("data")}, sort_keys=True)


def _certificate_file() -> Path:
    """In the user's data folder (XDG Base Directory Specification)."""
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local/share"
    path = Path(data, "culmen", "certificate.pem")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"the folder for the certificate cannot be made: {error}; give --certificate FILE") from None
    return path


def _reason(error: Exception) -> str:
    return error.strerror or str(error) if isinstance(error, OSError) else "it is no text"


def _is_loopback(address: str) -> bool:
    host = urlsplit(address).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _reachable(address: str) -> str:
    """The host's name, where the address stands for all of its addresses."""
    parts = urlsplit(address)
    return f"{parts.scheme}://{socket.gethostname()}:{parts.port}" if parts.hostname in ("0.0.0.0", "::") else address  # noqa: S104
