"""The wheel built from the sdist works in environments with and without the extras."""

import os
import re
import subprocess
import sys
import tarfile
import venv
import zipfile
from email import message_from_bytes
from importlib.metadata import Distribution, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

pytestmark = pytest.mark.study("pyproject.toml", "requirements", "examples", "tapewise")

TREE = Path(__file__).resolve().parents[2]
# The top-level folders that are packages; tapewise/ has a link to each.
PACKAGES = [path.name for path in sorted((TREE / "tapewise").iterdir()) if path.is_symlink()]
# How large the default environment may be, including the embedded PostgreSQL.
LARGEST_BYTES = 600_000_000


def build(target: str, tree: Path, folder: Path) -> Path:
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(folder)]
    subprocess.run(command, cwd=tree, check=True, capture_output=True)
    (built,) = folder.glob("*.tar.gz" if target == "sdist" else "*.whl")
    return built


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("built")
    with tarfile.open(build("sdist", TREE, folder)) as sdist:
        sdist.extractall(folder, filter="data")
    (tree,) = (path for path in folder.iterdir() if path.is_dir())
    return build("wheel", tree, folder)


def find_needed(wheel: Path, *extras: str) -> dict[str, Distribution]:
    """Return by name the distributions that the wheel with these extras needs, directly or indirectly."""
    with zipfile.ZipFile(wheel) as file:
        (name,) = (name for name in file.namelist() if name.endswith(".dist-info/METADATA"))
        own = message_from_bytes(file.read(name)).get_all("Requires-Dist", [])
    found: dict[str, Distribution] = {}
    seen = set()
    waiting = [("tapewise", "", *own)] + [("tapewise", extra, *own) for extra in extras]
    while waiting:
        name, extra, *requirements = waiting.pop()
        if (name, extra) in seen:
            continue
        seen.add((name, extra))
        for requirement in map(Requirement, requirements):
            if requirement.marker is not None and not requirement.marker.evaluate({"extra": extra}):
                continue
            if requirement.name == "tapewise":
                below = own
            else:
                found[requirement.name] = distribution(requirement.name)
                below = found[requirement.name].requires or []
            waiting += [(requirement.name, each, *below) for each in ("", *requirement.extras)]
    return found


def install(wheel: Path, needed: dict[str, Distribution], folder: Path) -> Path:
    """Make a new environment with the wheel and the `needed` distributions; return its `tapewise`.

    The environment also has the package index's `schema`, which must not replace `tapewise.schema`. The
    distributions are linked from the environment that runs the tests, so nothing is downloaded.
    """
    venv.create(folder, symlinks=True)
    (site_packages,) = folder.glob("lib/python3*/site-packages")
    for each in [*needed.values(), distribution("schema")]:
        for top in {path.parts[0] for path in each.files or [] if path.parts[0] != ".."} - {"__pycache__"}:
            link = site_packages / top
            if not link.exists():
                link.symlink_to(each.locate_file(top))
    with zipfile.ZipFile(wheel) as file:
        file.extractall(site_packages)
    program = folder / "bin" / "tapewise"
    program.write_text(f"#!{folder}/bin/python\nfrom tapewise.cli import main\nmain()\n", encoding="utf-8")
    program.chmod(0o755)
    return program


def run(program: Path, *arguments: str, home: Path) -> subprocess.CompletedProcess[str]:
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "TAPEWISE"))
    }
    command = [program, "--home", home, *arguments]
    return subprocess.run(
        command,
        cwd=home.parent,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_wheel_has_exactly_the_files_of_the_packages(wheel: Path):
    tracked = subprocess.run(
        ["git", "ls-files", *PACKAGES, "tapewise"], cwd=TREE, check=True, capture_output=True, text=True
    ).stdout.split()
    assert len(PACKAGES) == 8
    expected = {name if name.startswith("tapewise/") else f"tapewise/{name}" for name in tracked}
    with zipfile.ZipFile(wheel) as file:
        found = {name for name in file.namelist() if ".dist-info/" not in name}
    assert found == expected - {f"tapewise/{package}" for package in PACKAGES}


def test_a_tree_with_links_gives_the_same_wheel(wheel: Path, tmp_path: Path):
    """pip and the images build the wheel from such a tree. An sdist has no links."""
    with zipfile.ZipFile(wheel) as first, zipfile.ZipFile(build("wheel", TREE, tmp_path)) as second:
        assert sorted(first.namelist()) == sorted(second.namelist())


def test_the_default_environment_is_small(wheel: Path):
    needed = find_needed(wheel)
    assert not {"numba", "scikit-learn", "scipy"} & set(needed)
    size_bytes = sum(
        Path(str(file.locate())).stat().st_size
        for each in needed.values()
        for file in each.files or []
        if file.suffix != ".pyc" and Path(str(file.locate())).exists()
    )
    assert size_bytes < LARGEST_BYTES


def test_the_demo_runs_from_the_wheel_next_to_another_schema(wheel: Path, tmp_path: Path):
    tmp_path.chmod(0o755)  # when run as root, the server's own account must get in
    plain = install(wheel, find_needed(wheel), tmp_path / "plain")
    whole = install(wheel, find_needed(wheel, "all"), tmp_path / "whole")
    code = "import schema, tapewise.schema; print(schema.__file__, tapewise.schema.__file__)"
    python = [plain.parent / "python", "-c", code]
    files = subprocess.run(python, cwd=tmp_path, check=True, capture_output=True, text=True).stdout.split()
    assert files[0] != files[1]
    home = tmp_path / "home"
    try:
        without = run(plain, "demo", home=home)
        assert without.returncode == 0, without.stderr
        skipped = re.findall(r"^Skipped: .*package (\S+), .*\n.*'\.\[(\w+)\]'", without.stdout, re.MULTILINE)
        assert skipped == [("scikit-learn", "workload"), ("numba", "simulator"), ("numba", "simulator")]
        simulate = ["simulate", "run", "--machine", "llnl-unitree-1998", "--trace", "example", "--into", "x"]
        refused = run(plain, *simulate, home=home)
        assert refused.returncode == 1
        assert "pip install '.[simulator]'" in refused.stderr
        complete = run(whole, "demo", home=home)
        assert complete.returncode == 0, complete.stderr
        assert "nothing is counted twice" in complete.stdout
        assert "Skipped" not in complete.stdout
        check_python(plain.parent / "python", home)
    finally:
        run(plain, "db", "stop", home=home)


# The example in docs/how-to/python.md.
PYTHON = """
import sys, tapewise
log = tapewise.read_log(sys.argv[2], timezone="America/Los_Angeles")
print(log.line_count, log.rejected.height)
with tapewise.connect(home=sys.argv[1]) as warehouse:
    print(warehouse.mart.archives().height > 0, warehouse.mart.cache_hits(archive="none").height)
try:
    tapewise.simulate("llnl-unitree-1998", log.records, seed=1)
except tapewise.TapewiseError as error:
    print(type(error).__name__)
"""


def check_python(python: Path, home: Path) -> None:
    """Assert that the public interface works in an environment without extras."""
    log = TREE / "examples" / "logs" / "hsi.log"
    command = [python, "-c", PYTHON, home, log]
    done = subprocess.run(command, cwd=home.parent, check=True, capture_output=True, text=True)
    assert done.stdout.splitlines() == ["3979 11", "True 0", "MissingExtraError"]
