"""Types the commands that the documents about Slurm show."""

import pytest
from harness import ROOT, environment
from sessions import needs_slurm, type_sessions

DOCUMENTS = [path for path in sorted(ROOT.glob("docs/**/*.md")) if needs_slurm(path)]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_what_is_typed_prints_what_is_shown(slurm, tmp_path, document):
    more = {"SLURM_CONF": str(slurm.configuration), "OMPI_MCA_mpi_yield_when_idle": "1", "CULMEN_MPI": "openmpi"}
    type_sessions(document, tmp_path, environment(XDG_CONFIG_HOME=str(tmp_path), **more))


def test_there_are_such_documents():
    assert "slurm.md" in [path.name for path in DOCUMENTS]
