"""``culmen tune app``: an earlier profile in the folder."""

import pytest
from culmen.tune.app.program import has_profile

from culmen import _core

pytestmark = pytest.mark.no_numbers


@pytest.mark.parametrize("before", [b"mpiexec -n 4 ./app\n", b"mpiexec \xff\n"])
def test_a_profile_of_another_command_is_refused(tmp_path, before):
    (tmp_path / "command").write_bytes(before)
    with pytest.raises(
        _core.InputError,
        match=r"is of another command: mpiexec .*; give another folder with --output, or write --overwrite",
    ):
        has_profile(["mpiexec", "-n", "2", "./app"], tmp_path)


def test_a_profile_of_the_same_command_is_used_again(tmp_path):
    words = ["mpiexec", "-n", "2", "./app"]
    assert not has_profile(words, tmp_path)
    (tmp_path / "command").write_text("mpiexec -n 2 ./app\n")
    assert not has_profile(words, tmp_path)
    (tmp_path / "0.profile").touch()
    assert has_profile(words, tmp_path)
