"""Plans a round over the configured sources: each source, and the files that its globs match."""

import glob
from dataclasses import dataclass
from pathlib import Path

from tapewise.ingest.formats.registry import find_format
from tapewise.ingest.ledger.log_files import ledger_path
from tapewise.ingest.pseudonyms.keys import HOW_TO_MAKE_ONE, read_key
from tapewise.ingest.reading.log_dates import DateRule, read_date_rule
from tapewise.ingest.reading.members import find_change, find_members
from tapewise.ingest.reading.remote_files import is_absent, list_remote
from tapewise.ingest.reading.remote_paths import RemotePath, is_remote
from tapewise.ingest.records.prefixed_lines import strip_format
from tapewise.ingest.sources.sources import SourceRequest
from tapewise.schema.errors import ConfigError, FormatError, LogFileError, SourceError
from tapewise.schema.moments import check_timezone
from tapewise.schema.settings import Settings
from tapewise.schema.sites import ArchiveSettings, SourceSettings
from tapewise.schema.texts import escape_controls


@dataclass(frozen=True)
class SourcePlan:
    """A source as configured, and the files that its globs match, oldest first.

    `dates` says where the days of files come from whose lines lack them. `unmatched` lists the globs that
    match no file, each with what it matches instead.
    """

    request: SourceRequest
    settings: SourceSettings
    paths: list[Path]
    unmatched: list[str]
    dates: DateRule | None = None


def plan_round(settings: Settings, archive: str | None = None) -> list[SourcePlan]:
    """Plan a round over the configured sources, or those of one archive.

    Raises ConfigError, which names the file and the field, for an unknown archive, format or zone, for a file
    in two sources of an archive, or for pseudonyms without a key. Raises SettingsError for an unreadable key.
    """
    if archive is not None and archive not in {each.name for each in settings.archives}:
        raise ConfigError(
            f"{settings.config}: no archive is called '{archive}'",
            hint="Without PATHS, only archives named in that file are read.",
        )
    plans = []
    for each in settings.archives:
        if archive in (None, each.name):
            found = [_plan_source(settings, each, source) for source in each.sources]
            _check_shared(settings.config, found)
            plans += found
    return plans


def _plan_source(settings: Settings, archive: ArchiveSettings, source: SourceSettings) -> SourcePlan:
    config = settings.config
    where = f"{config}: archives[{archive.name}]"
    here = f"{where}.sources[{source.name}]"
    try:
        log_format = find_format(source.format, config.parent)
    except FormatError as error:
        raise ConfigError(f"{here}.format: {error.message}", hint=error.hint) from None
    try:
        log_format = strip_format(log_format, source.strip)
    except FormatError as error:
        raise ConfigError(f"{here}.strip: {error.message}", hint=error.hint) from None
    for place, zone in ((where, archive.timezone), (here, source.timezone)):
        try:
            check_timezone(zone or "UTC")
        except SourceError as error:
            raise ConfigError(f"{place}.timezone: {error.message}", hint=error.hint) from None
    try:
        dates = read_date_rule(source.date_from, config.parent)
    except ValueError as error:
        raise ConfigError(f"{here}.date_from: {error}") from None
    key = read_key(settings) if source.pseudonymise else None
    if source.pseudonymise and key is None:
        raise ConfigError(f"{here}.pseudonymise: there is no key for it", hint=HOW_TO_MAKE_ONE)
    request = SourceRequest(
        archive=archive.name,
        kind=archive.kind,
        format=log_format,
        timezone=source.timezone or archive.timezone,
        name=source.name,
        is_counted=source.counted,
        is_shared=source.shared,
        archive_timezone=archive.timezone,
        key=key,
    )
    found: dict[str, Path] = {}
    unmatched = []
    for pattern in source.paths:
        if is_remote(pattern):
            remote, missing = _find_remote(RemotePath(pattern))
            unmatched += missing
            found |= {ledger_path(path): path for path in find_members(remote)}
            continue
        here_too = str(Path(glob.escape(str(config.parent))) / pattern)
        matched = glob.glob(here_too, recursive=True)  # noqa: PTH207  # Path.glob takes no absolute patterns
        files = [path for path in map(Path, matched) if not path.is_dir()]
        if not files:
            folder = f"'{pattern}' is a folder: did you mean '{pattern.rstrip('/')}/*'?"
            unmatched.append(folder if matched else f"nothing matches '{pattern}'")
        for path in find_members(files):
            found.setdefault(ledger_path(path), path)
    return SourcePlan(request, source, sorted(found.values(), key=_order), unmatched, dates)


def _find_remote(pattern: RemotePath) -> tuple[list[RemotePath], list[str]]:
    """Return the files that a URL matches, and why there are none, if so.

    What cannot be listed is returned as a file, whose reading fails, so that this is a failure of the run.
    """
    paths = list_remote(pattern, is_recursive=False)
    if paths == [pattern] and is_absent(paths[0]):
        return [], [f"nothing matches '{pattern}'"]
    return paths, []


def _order(path: Path) -> tuple[float, str]:
    """A sort key: the time of a log's last write, because that gives the order in which logs were rotated."""
    try:
        return find_change(path), str(path)
    except (OSError, LogFileError):
        return 0, str(path)  # the file is gone by now; reading it will report that


def _check_shared(config: Path, plans: list[SourcePlan]) -> None:
    """Raise ConfigError if two sources of an archive that are not `shared` have a file in common.

    The lines of this file would be counted twice.
    """
    owners: dict[str, str] = {}
    for plan in plans:
        if plan.settings.shared:
            continue
        for path in plan.paths:
            owner = owners.setdefault(ledger_path(path), plan.request.name)
            if owner != plan.request.name:
                raise ConfigError(
                    f"{config}: archives[{plan.request.archive}]: {escape_controls(str(path))} is in sources"
                    f" '{owner}' and '{plan.request.name}'",
                    hint="Narrow the globs of one of them: the lines would count twice. If the file has lines"
                    " of two formats, set `shared = true` for one: what one has loaded is then held for the"
                    " other.",
                )
