"""Every error that Tapewise raises on purpose; the whole tree is on this page.

    TapewiseError
    ├── SettingsError            a setting is missing, malformed or contradicts another
    │   └── ConfigError          ... in tapewise.toml or what is over it (exit status 2)
    ├── MissingExtraError        a package that belongs to an extra is not installed
    ├── ServerError              the embedded PostgreSQL cannot be used
    │   └── ServerOwnerError     ... because its home belongs to somebody else
    ├── DatabaseError            a database cannot be reached, or is not as it must be
    │   ├── RevisionError        ... its schema is older or newer than this program
    │   └── SchemaMismatchError  ... a frame's columns are not the table's
    ├── SourceError              an archive or source exists already with other settings
    ├── LogFileError             a log file cannot be read
    │   ├── RewrittenFileError   ... because it was rewritten meanwhile
    │   └── HeldElsewhereError   ... because another source of the archive holds its lines
    ├── WorkerError              a process that reads log files was killed
    ├── FormatError              no such log format
    │   └── LayoutError          ... or the file that describes one cannot be read, or contradicts itself
    ├── LookupFailedError        a row, line, archive or recorded event was asked for that is not there
    ├── RetentionError           detail cannot be forgotten, or undone, as was asked
    ├── MomentError              a time was typed that the clock of its archive shows twice, or never
    ├── SiteEventError           an outage or configuration change cannot be recorded as it was given
    ├── WorkloadError            a workload model or a trace cannot be made, or there is no model of that name
    ├── QueryError               a query of the user failed
    └── SimulationError          a simulation cannot be run as asked
        ├── MachineError         ... its machine file is missing, malformed or contradicts itself
        └── TraceError           ... its trace is malformed, out of order or asks for the impossible

A message names what is wrong (file, line, field) and says what to do. The command line prints the
chain of messages and exits with `exit_status`; wrong usage is click's own and exits with 2.
"""


class TapewiseError(Exception):
    """The root: catch it to catch whatever Tapewise raises on purpose.

    `message` is one sentence without a full stop; a ConfigError's has a line for each fault, a
    QueryError's may end in a picture of the place. `hint`, if any, is what the user can do about it.
    """

    exit_status = 1

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class SettingsError(TapewiseError):
    """A setting is missing, malformed or contradicts another."""


class ConfigError(SettingsError):
    """The settings cannot be read, or are malformed; the message names file and field, a line each.

    Its exit status is that of wrong usage: a nightly job tells it from a log file that cannot be read.
    """

    exit_status = 2


class MissingExtraError(TapewiseError):
    """A command needs a package that only one of Tapewise's extras installs."""


class ServerError(TapewiseError):
    """The embedded PostgreSQL cannot be installed, started, stopped or used."""


class ServerOwnerError(ServerError):
    """The home of the embedded PostgreSQL belongs to another user of this machine."""


class DatabaseError(TapewiseError):
    """A database cannot be reached, refused us, broke off, or is not what it must be."""


class RevisionError(DatabaseError):
    """The schema of the database is older or newer than this program expects."""


class SchemaMismatchError(DatabaseError):
    """A frame's columns or types are not those of the table it should be loaded into."""


class SourceError(TapewiseError):
    """An archive or a source exists already, with settings other than those now given."""


class LogFileError(TapewiseError):
    """A log file is missing, not readable, or no log file."""


class RewrittenFileError(LogFileError):
    """A log file changed otherwise than by growing while it was read."""


class HeldElsewhereError(LogFileError):
    """Lines of a log file are held by another source of the archive, and would count twice."""


class WorkerError(TapewiseError):
    """A process of ours that reads log files beside others was killed."""


class FormatError(TapewiseError):
    """No log format has the given name."""


class LayoutError(FormatError):
    """A layout's file is missing, malformed or contradicts itself; the message names file and key."""


class LookupFailedError(TapewiseError):
    """A row, line, archive or recorded event was asked for that the warehouse does not have."""


class RetentionError(TapewiseError):
    """What is before that day cannot be forgotten, or a source cannot be dropped."""


class MomentError(TapewiseError):
    """A time was typed that the clock of its archive shows twice, or never."""


class SiteEventError(TapewiseError):
    """An outage or configuration change cannot be recorded as it was given."""


class WorkloadError(TapewiseError):
    """A workload model or a trace cannot be made; a model exists already, or does not exist."""


class QueryError(TapewiseError):
    """A query that the user wrote failed."""


class SimulationError(TapewiseError):
    """A simulation cannot be run as asked."""


class MachineError(SimulationError):
    """A machine file is missing, malformed or contradicts itself; the message names file and field."""


class TraceError(SimulationError):
    """A trace lacks a column, is out of order, or asks for what the machine cannot do."""
