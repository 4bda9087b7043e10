"""Files of a profile that are empty or damaged, after the program has ended."""

import pytest
from culmen.cli.work import profile

pytestmark = pytest.mark.no_numbers

FILES = {
    b"x": "is not a profile of this version of culmen",
    b"": "the program ended with exit code 3 and left no profile",
}


@pytest.mark.parametrize("content", FILES)
def test_the_programs_exit_code_stays(tmp_path, monkeypatch, capsys, content):
    def run(_words, folder, _period, **_options):
        folder.mkdir()
        (folder / "1.profile").write_bytes(content)
        return 3

    monkeypatch.setattr(profile, "run_profiled", run)
    assert profile.run(["app"], tmp_path / "out", 0) == 3
    said = capsys.readouterr().err
    assert FILES[content] in said and said.count("\n") == 1
