"""What a shell offers for the word that is being typed. Where nothing fits, the shell offers its files."""

from pathlib import Path


def study_files(incomplete: str) -> list[str]:
    return _files(incomplete, ".toml")


def stores(incomplete: str) -> list[str]:
    return _files(incomplete, ".db")


def optimizers(incomplete: str) -> list[str]:
    from .. import _core

    return [name for name in _core.optimizer_names() if name.startswith(incomplete)]


def _files(incomplete: str, ending: str) -> list[str]:
    folder, slash, begin = incomplete.rpartition("/")
    try:
        names = [path.name for path in Path(folder + slash or ".").expanduser().iterdir()]
    except OSError:
        return []
    return sorted(folder + slash + name for name in names if name.startswith(begin) and name.endswith(ending))
