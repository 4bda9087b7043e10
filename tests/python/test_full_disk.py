"""A full disk: the message says what to do."""

import errno
import os

import pytest
from culmen.base.errors import sentence
from culmen.cli.work.stopped import continues
from culmen.run.master import raise_error

from culmen import _core

pytestmark = pytest.mark.no_numbers


@pytest.mark.parametrize(("names", "where"), [((), ""), (("out/choices.csv",), " for out/choices.csv")])
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_one_sentence_with_what_to_do(number, names, where):
    reason = os.strerror(number)
    assert sentence(OSError(number, reason, *names)) == (
        f"no space is left{where} ({reason}); free space, then type the same command again"
    )
    assert sentence(OSError(errno.EIO, "Input/output error")).startswith("OSError: ")


def test_a_tuner_names_its_own_command():
    class Result:
        reason, store_failed, message = "error", True, "cannot write tuning.db: no space left"

    @continues
    def tune() -> int:
        raise_error(Result())
        return 0

    with pytest.raises(_core.StoreError, match=r"no space left; free space, then type .* again$") as raised:
        tune()
    assert "study" not in str(raised.value)
