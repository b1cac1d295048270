"""The paths of files inside tar and zip archives, such as `logs.tar.gz/1998/hsi.log`.

Such a path is that of the archive, continued by the file's name within it. An archive is recognised by the
end of its name, because opening thousands of files only to look for archives would take too long. On another
machine, a folder must not have such a name.
"""

from pathlib import Path

from tapewise.ingest.reading.remote_paths import RemotePath

TAR_SUFFIXES = (
    ".tar",
    *(".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz", ".tar.zst", ".tzst"),
)
ZIP_SUFFIXES = (".zip",)


def is_container(path: Path) -> bool:
    """Whether this is a file whose name is that of a tar or zip archive.

    On another machine it need not exist.
    """
    if not has_container_name(path):
        return False
    if isinstance(path, RemotePath):
        return not any(map(has_container_name, path.parents))  # archives in archives are not read
    return path.is_file()


def has_container_name(path: Path) -> bool:
    """Whether the path's name is that of a tar or zip archive."""
    return path.name.lower().endswith(TAR_SUFFIXES + ZIP_SUFFIXES)


def find_container(path: Path) -> Path | None:
    """Return the archive that a path leads into, or None if it leads into none."""
    text = str(path).lower()
    if not any(f"{suffix}/" in text for suffix in (*TAR_SUFFIXES, *ZIP_SUFFIXES)):
        return None  # nearly always; the parents take a millisecond
    return next((parent for parent in reversed(path.parents) if is_container(parent)), None)
