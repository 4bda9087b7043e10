"""Copies of a user's sources, which are built."""

import io
import tarfile

import pytest
from culmen.bench.suites import sources as module
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


ESCAPES = {
    "a file through links": ["d/", "d/e -> ..", "up1 -> d/e/..", "up2 -> up1/..", "up3 -> up2/..", "up3/outside.txt"],
    "a file through a harmless link": ["d/", "link -> d", "link/inside.txt"],
    "a file through a later link": ["d/", "./link/../link/inside.txt", "link -> d"],
    "a file in the place of a link": ["d/", "d/e -> ..", "up -> d/e/../outside.txt", "up"],
    "a hard link through links": ["d/", "d/e -> ..", "up -> d/e/..", "hard => up/mine.txt", "hard"],
    "a hard link to a link": ["d/", "d/e -> ..", "up -> d/e/../mine.txt", "hard => up", "hard"],
    "a link outside": ["d/", "d/e -> ..", "up -> d/e/../.."],
}


def member_of(text):
    name, kind, target = text.partition(" -> ") if " -> " in text else text.partition(" => ")
    member = tarfile.TarInfo(name.rstrip("/"))
    if kind:
        member.type, member.linkname = tarfile.SYMTYPE if "-" in kind else tarfile.LNKTYPE, target
    elif name.endswith("/"):
        member.type, member.mode = tarfile.DIRTYPE, 0o755
    else:
        member.size = 4
    return member


def archive_of(path, members):
    with tarfile.open(path, "w") as archive:
        for text in members:
            archive.addfile(member_of(text), io.BytesIO(b"evil"))
    return path


@pytest.mark.parametrize("members", ESCAPES.values(), ids=ESCAPES)
@pytest.mark.parametrize("has_filter", [True, False])
def test_an_archive_cannot_write_through_its_links(tmp_path, monkeypatch, members, has_filter):
    """Each name alone lies inside. Old Pythons have no filter."""
    if not has_filter:
        monkeypatch.setattr(module, "_SAFELY", {"filter": "fully_trusted"} if module._SAFELY else {})
    (tmp_path / "a/b").mkdir(parents=True)
    mine = [tmp_path / "a/mine.txt", tmp_path / "a/b/mine.txt"]
    for each in mine:
        each.write_text("mine")
    archive = archive_of(tmp_path / "evil.tar", members)
    with pytest.raises(
        InputError, match=r"would (lie outside the folder|be written through a link); it was not unpacked"
    ):
        unpacked(archive, tmp_path / "a/b/out", lambda _: None)
    assert [each.read_text() for each in mine] == ["mine", "mine"]
    assert not [path for path in tmp_path.rglob("*") if path.name in ("outside.txt", "out")]


def test_links_inside_an_archive_stay(tmp_path):
    members = ["s/", "s/v1/", "s/v1/a.c", "s/now -> v1", "s/a.c -> now/a.c", "s/hard.c => s/v1/a.c", "s/loop -> loop"]
    out = unpacked(archive_of(tmp_path / "good.tar", members), tmp_path / "out", lambda _: None)
    assert [(out / name).read_text() for name in ("a.c", "hard.c", "now/a.c")] == ["evil"] * 3
