"""Every error that Tapewise raises on purpose: the whole tree on one page.

    TapewiseError
    ├── SettingsError            a setting is missing, malformed or contradicts another
    │   └── ConfigError          ... in tapewise.toml or what overrides it (exit status 2)
    ├── MissingExtraError        a package that belongs to an extra is not installed
    ├── ServerError              the embedded PostgreSQL cannot be used
    │   └── ServerOwnerError     ... because its home belongs to somebody else
    ├── DatabaseError            a database cannot be reached, or is not in the expected state
    │   ├── RevisionError        ... its schema is older or newer than this program
    │   └── SchemaMismatchError  ... a frame's columns are not those of the table
    ├── SourceError              an archive or source already exists with other settings
    ├── LogFileError             a log file cannot be read
    │   ├── RewrittenFileError   ... because it was rewritten in the meantime
    │   └── HeldElsewhereError   ... because another source of the archive already has its lines
    ├── WorkerError              a process that reads log files was killed
    ├── FormatError              no such log format
    │   └── LayoutError          ... or the file that describes one cannot be read, or contradicts itself
    ├── LookupFailedError        the requested row, line, archive or recorded event does not exist
    ├── RetentionError           detail cannot be forgotten, or a source dropped, as requested
    ├── MomentError              the archive's clock shows the given time twice, or never
    ├── SiteEventError           an outage or configuration change cannot be recorded as given
    ├── WorkloadError            a workload model or a trace cannot be made, or there is no model of that name
    ├── ExportError              an export cannot be written to the given folder
    ├── QueryError               a query written by the user failed
    │   └── UnknownViewError     ... because `mart` has no view or function of that name
    └── SimulationError          a simulation cannot be run as requested
        ├── MachineError         ... its machine file is missing, malformed or contradicts itself
        └── TraceError           ... its trace is malformed, out of order or asks for the impossible

A message names what is wrong (file, line, field) and says what to do. The command line prints the
chain of messages and exits with `exit_status`. Click itself handles wrong usage, and exits with 2.
"""


class TapewiseError(Exception):
    """The root. Catch it to catch everything that Tapewise raises on purpose.

    `message` is one sentence without a full stop. A ConfigError's message has a line for each fault, and a
    QueryError's may end with the offending line of the query. `hint`, if any, is what the user can do.
    """

    exit_status = 1

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class SettingsError(TapewiseError):
    """A setting is missing, malformed or contradicts another."""


class ConfigError(SettingsError):
    """The settings cannot be read, or are malformed; the message names file and field, one line each.

    It has the exit status of wrong usage, so a nightly job does not mistake it for an unreadable log.
    """

    exit_status = 2


class MissingExtraError(TapewiseError):
    """A command needs a package that only one of Tapewise's extras installs."""


class ServerError(TapewiseError):
    """The embedded PostgreSQL cannot be installed, started, stopped or used."""


class ServerOwnerError(ServerError):
    """The home of the embedded PostgreSQL belongs to another user of this machine."""


class DatabaseError(TapewiseError):
    """A database cannot be reached, has refused or dropped a connection, or is not in the expected state."""


class RevisionError(DatabaseError):
    """The schema of the database is older or newer than this program expects."""


class SchemaMismatchError(DatabaseError):
    """A frame's columns or types are not those of the table that it is to be loaded into."""


class SourceError(TapewiseError):
    """An archive or a source already exists with settings other than those given now."""


class LogFileError(TapewiseError):
    """A log file is missing or unreadable, or is not a log file."""


class RewrittenFileError(LogFileError):
    """A log file changed while it was read, other than by growing."""


class HeldElsewhereError(LogFileError):
    """Another source of the archive already has lines of a log file, so they would count twice."""


class WorkerError(TapewiseError):
    """One of our processes that read log files in parallel was killed."""


class FormatError(TapewiseError):
    """No log format has the given name."""


class LayoutError(FormatError):
    """A layout's file is missing, malformed or contradicts itself; the message names file and key."""


class LookupFailedError(TapewiseError):
    """The warehouse does not have the requested row, line, archive or recorded event."""


class RetentionError(TapewiseError):
    """Detail from before the given day cannot be forgotten, or a source cannot be dropped."""


class MomentError(TapewiseError):
    """The archive's clock shows the given time twice, or never."""


class SiteEventError(TapewiseError):
    """An outage or configuration change cannot be recorded as given."""


class WorkloadError(TapewiseError):
    """A workload model or a trace cannot be made, or a model already exists or does not exist."""


class ExportError(TapewiseError):
    """An export cannot be written, or its folder holds something else."""


class QueryError(TapewiseError):
    """A query that the user wrote failed."""


class UnknownViewError(QueryError, AttributeError):
    """Schema `mart` has no view or function of that name. Also an AttributeError, as `hasattr` requires."""


class SimulationError(TapewiseError):
    """A simulation cannot be run as requested."""


class MachineError(SimulationError):
    """A machine file is missing, malformed or contradicts itself; the message names file and field."""


class TraceError(SimulationError):
    """A trace lacks a column, is out of order, or asks for something that the machine cannot do."""
