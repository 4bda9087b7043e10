"""Copies of a user's sources, which are built."""

import pytest
from culmen.bench.suites.sources import unpacked

from culmen import InputError

pytestmark = pytest.mark.no_numbers


def test_links_out_of_the_sources_are_refused(tmp_path):
    mine, sources = tmp_path / "mine.c", tmp_path / "sources"
    mine.write_text("int main;")
    (sources / "src").mkdir(parents=True)
    (sources / "src/inside.c").write_text("")
    (sources / "inside.c").symlink_to("src/inside.c")
    said = []
    assert (unpacked(sources, tmp_path / "copy", said.append) / "inside.c").is_symlink()
    (sources / "outside.c").symlink_to(mine)
    with pytest.raises(
        InputError, match=r"the link outside.c leads outside of this folder; copy the sources with `cp -rL`"
    ):
        unpacked(sources, tmp_path / "another copy", said.append)
