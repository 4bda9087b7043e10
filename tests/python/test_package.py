"""The cost of an import, and the public names."""

import os
import subprocess
import sys

import pytest

import culmen

pytestmark = pytest.mark.no_numbers

HEAVY = ("pydantic", "rich", "typer", "cloudpickle", "numpy", "culmen._core")


@pytest.mark.parametrize("module", ["culmen", "culmen.slot.__main__"])
def test_importing_loads_nothing_heavy(module):
    program = f"import sys, {module}; print(*(m for m in {HEAVY!r} if m in sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_help_loads_neither_engine_nor_pydantic():
    program = (
        "import sys\n"
        "from culmen.cli.app import app\n"
        "try: app(['--help'])\n"
        "except SystemExit: pass\n"
        "print(*(m for m in ('pydantic', 'cloudpickle', 'numpy', 'culmen._core') if m in sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == ""
    assert "resume" in done.stdout


def test_the_status_of_a_study_loads_nothing_that_reads_study_files():
    program = (
        "import sys, culmen.cli.work.status; print(*(m for m in ('numpy', 'culmen.study_file') if m in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_every_public_name_is_there():
    for name in culmen.__all__:
        assert getattr(culmen, name) is not None
    assert set(culmen.__all__) <= set(dir(culmen))
    with pytest.raises(AttributeError, match="no attribute 'minimise'"):
        _ = culmen.minimise


def test_outside_a_launch_there_is_one_master():
    assert culmen.is_master()


@pytest.mark.parametrize(("rank", "master"), [(0, "True"), (1, "False")])
def test_in_a_launch_rank_0_is_the_master(rank, master):
    program = "import culmen; print(culmen.is_master())"
    launched = {**os.environ, "OMPI_COMM_WORLD_RANK": str(rank), "OMPI_COMM_WORLD_SIZE": "2"}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=launched)
    assert done.stdout.strip() == master


def test_errors_have_one_base():
    for error in (culmen.InputError, culmen.StoreError, culmen.TransportError):
        assert issubclass(error, culmen.CulmenError)
    assert issubclass(culmen.CulmenError, RuntimeError)
