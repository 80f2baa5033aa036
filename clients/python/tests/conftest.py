import gc
import os
import warnings

import pytest

import gpc_tune

warnings.simplefilter("ignore", gpc_tune.GpcTuneWarning)


def children():
    """The processes that this one has started, and their states."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat") as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == os.getpid():
            found.append(int(pid))
    return found


def points(search):
    """The trials without their times."""
    return [{key: of for key, of in t.items() if key != "seconds"} for t in search.trials_]


@pytest.fixture(autouse=True)
def _nothing_is_left(tmp_path, monkeypatch):
    """After every test no process, file or thread is left."""
    import tempfile
    import threading
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    threads = threading.active_count()
    before = set(children())
    yield
    gc.collect()
    assert not [name for name in os.listdir(tmp_path) if name.startswith("gpc-tune")]
    assert threading.active_count() <= threads
    assert not [pid for pid in set(children()) - before if program_of(pid) == "gpc-tune"]


def program_of(pid):
    try:
        with open(f"/proc/{pid}/comm") as file:
            return file.read().strip()
    except OSError:
        return ""
