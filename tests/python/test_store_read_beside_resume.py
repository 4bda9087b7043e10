"""A store is read while a resume writes another description."""

import json
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

import culmen

pytestmark = pytest.mark.no_numbers
WRITER = """
import json, sqlite3, sys
database, found = sqlite3.connect(sys.argv[1], isolation_level=None), json.loads(sys.argv[2])
database.execute("PRAGMA journal_mode = WAL")
print("begun", flush=True)
while True:
    for rows in found:
        database.execute("BEGIN IMMEDIATE")
        database.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", rows)
        database.execute("COMMIT")
"""


def descriptions(store):
    with closing(sqlite3.connect(store)) as database:
        return database.execute("SELECT key, value FROM meta").fetchall()


def test_a_description_that_changes_is_not_damaged(tmp_path):
    store, found = str(tmp_path / "study.db"), []
    for budget in (4, 8):
        culmen.minimize(lambda p: p["x"], {"x": (0.0, 1.0)}, budget=budget, store=store)
        found.append(descriptions(store))
    assert found[0] != found[1]
    words = [sys.executable, "-c", WRITER, store, json.dumps(found)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as writer:
        writer.stdout.readline()
        try:
            for _ in range(1000):
                culmen._core.Store.read(store).summary()
        finally:
            writer.kill()
