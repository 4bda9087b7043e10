"""``culmen images``."""

from pathlib import Path

from ..._core import InputError
from ...base.text import did_you_mean
from ...report.images import KINDS, write_images
from ...report.style import counted


def write(page: Path, folder: Path | None, kind: str, width: int) -> None:
    if kind not in KINDS:
        raise InputError(f"--format must be svg, png or pdf, got '{kind}'{did_you_mean(kind, list(KINDS))}")
    usual = page.with_suffix("") if page.suffix else page.with_name(f"{page.name}-images")
    written = write_images(page, folder or usual, kind, width)
    print(
        f"Wrote {counted(len(written), 'image')} into {written[0].parent}: {', '.join(path.name for path in written)}"
    )
