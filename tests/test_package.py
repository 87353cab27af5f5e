"""The package itself: what a wheel holds, what the import of the graph API brings in, and how much that takes."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LATE = ("langchain_core", "pydantic", "asyncio", "sqlite3", "apsw", "numpy", "logging", "concurrent.futures")
"""What many programs with graphs never use."""
MOST_RSS_MB = 25.0

IMPORT = """
import json, sys

def resident():
    try:
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmRSS"))
    except FileNotFoundError:
        return 0

before = resident()
import stepwell.graph
print(json.dumps({"mb": resident() - before, "modules": sorted(sys.modules)}))
"""


STATUS = Path("/proc/self/status")


@pytest.fixture(scope="module")
def imported():
    """What a fresh process says after importing the graph API."""
    told = subprocess.run([sys.executable, "-c", IMPORT], check=True, capture_output=True, text=True)
    return json.loads(told.stdout)


class DescribeTheImportOfTheGraphAPI:
    @pytest.mark.parametrize("name", LATE)
    def test_brings_in_nothing_that_is_not_used_yet(self, imported, name):
        assert name not in imported["modules"]

    @pytest.mark.skipif(not STATUS.exists(), reason="this system does not say what a process takes")
    def test_takes_little_memory(self, imported):
        assert 0 < imported["mb"] <= MOST_RSS_MB


@pytest.fixture(scope="module")
def names(tmp_path_factory):
    """The files of a wheel that is built from this checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*command, "--wheel-dir", str(folder), str(ROOT)], check=True, capture_output=True)
    (wheel,) = folder.glob("stepwell-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


class DescribeAWheel:
    def test_says_that_it_is_typed(self, names):
        assert "stepwell/py.typed" in names

    def test_holds_its_license(self, names):
        assert any(name.endswith("/LICENSE") for name in names)

    def test_holds_every_module_and_no_test(self, names):
        modules = {str(path.relative_to(ROOT / "src")) for path in (ROOT / "src" / "stepwell").rglob("*.py")}

        assert modules <= set(names)
        assert not [name for name in names if name.startswith(("tests/", "bench/", "docs/"))]
