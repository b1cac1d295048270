"""Settings: a command-line flag overrides an environment variable, which overrides `tapewise.toml`.

    flag              variable                   tapewise.toml
    --config          TAPEWISE_CONFIG
    --home            TAPEWISE_HOME              home = "..."
    --database-url    TAPEWISE_DATABASE_URL *    database_url = "postgresql://..."
    --reader-url      TAPEWISE_READER_URL *      reader_url = "postgresql://..."
                      TAPEWISE_POSTGRES_VERSION  postgres_version = 18
                      TAPEWISE_PROMETHEUS_FILE   prometheus_file = "..."
                      TAPEWISE_REPORTS           reports = "..."
                      TAPEWISE_PSEUDONYM_KEY *   pseudonym_key_file = "..."
                                                 [[archives]], see `schema/sites.py`

* The same name with `_FILE` appended names a file that contains the value (a container's secret).

Without a database URL, the warehouse is in an embedded PostgreSQL below `home`. With one, `tapewise sql` uses
`reader_url` to log in as the reading role. Relative paths in the file are resolved against its folder.
"""

import os
import tomllib
from collections.abc import Sequence
from difflib import get_close_matches
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, cast

from pydantic import BaseModel, Field, SecretStr, ValidationError, field_validator
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from tapewise.schema.errors import ConfigError, SettingsError
from tapewise.schema.server.binaries import INSTALL_FOLDERS
from tapewise.schema.sites import ArchiveSettings, SourceSettings, check_names
from tapewise.schema.texts import escape_controls

CONFIG_FILE = "tapewise.toml"
_PATHS = ("home", "layouts", "prometheus_file", "pseudonym_key_file", "reports")
# How these lists are written in the file; all other lists contain strings.
_LISTS = {"archives": "[[archives]]", "sources": "[[archives.sources]]"}
_SECRETS = ("database_url", "reader_url")  # may hold a password
_LATE_SECRET = "pseudonym_key"  # noqa: S105  # only its name; code that needs the key reads its file


def default_home() -> Path:
    """The default folder of the embedded PostgreSQL (root's is `/var/lib/tapewise/home`)."""
    if os.geteuid() == 0:
        return Path("/var/lib/tapewise/home")
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(data) / "tapewise"


class Settings(BaseSettings):
    """The settings by which every command finds its warehouse."""

    model_config = SettingsConfigDict(env_prefix="TAPEWISE_", extra="forbid", frozen=True)

    config: Path = Path(CONFIG_FILE)
    home: Path = Field(default_factory=default_home)
    database_url: str | None = None
    reader_url: str | None = None
    layouts: Path | None = None
    postgres_version: int = 18
    prometheus_file: Path | None = None
    reports: Path | None = None
    # The key itself, or the file from which `ingest/pseudonyms/keys.py` reads it when it is needed.
    pseudonym_key: SecretStr | None = None
    pseudonym_key_file: Path | None = None
    archives: tuple[ArchiveSettings, ...] = ()

    @property
    def reports_folder(self) -> Path:
        """The folder of the reports that the dashboards link to: the one set, or `reports` in the home."""
        return self.reports or self.home / "reports"

    @property
    def layouts_folder(self) -> Path | None:
        """The folder of the site's layouts: the one set, or `layouts` beside the settings file."""
        beside = self.config.parent / "layouts"
        return self.layouts or (beside if self.config.is_file() and beside.is_dir() else None)

    @field_validator("layouts")
    @classmethod
    def _check_layouts(cls, layouts: Path | None) -> Path | None:
        if layouts is not None and not layouts.is_dir():
            raise ValueError(f"{layouts} is not a folder")
        return layouts

    @field_validator("postgres_version")
    @classmethod
    def _check_version(cls, version: int) -> int:
        if version not in INSTALL_FOLDERS:
            known = " or ".join(map(str, sorted(INSTALL_FOLDERS)))
            raise ValueError(f"the embedded PostgreSQL must be {known}, not {version}")
        return version

    @field_validator("archives")
    @classmethod
    def _check_archives(cls, archives: tuple[ArchiveSettings, ...]) -> tuple[ArchiveSettings, ...]:
        check_names("archives", [archive.name for archive in archives])
        return archives

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003  # pydantic passes it
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003  # pydantic passes it
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Return the sources of settings in order: flags, environment, file. There are no .env files."""
        file = _ConfigFile(
            settings_cls, cast(Any, init_settings).init_kwargs.get("config", Path(CONFIG_FILE))
        )
        return init_settings, env_settings, _SecretFiles(settings_cls), file


class _SecretFiles(PydanticBaseSettingsSource):
    """The contents of the files named by variables that end in `_FILE`."""

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:  # noqa: ARG002  # pydantic's
        variable = f"TAPEWISE_{field_name.upper()}"
        path = os.environ.get(f"{variable}_FILE") if field_name in (*_SECRETS, _LATE_SECRET) else None
        if not path:
            return None, field_name, False
        if variable in os.environ:
            raise SettingsError(f"both {variable} and {variable}_FILE are set", hint="Set one of them.")
        if field_name == _LATE_SECRET:
            return None, field_name, False
        return read_secret_file(Path(path)), field_name, False

    def __call__(self) -> dict[str, Any]:
        values = {name: self.get_field_value(field, name)[0] for name, field in Settings.model_fields.items()}
        return {name: value for name, value in values.items() if value is not None}


class _ConfigFile(TomlConfigSettingsSource):
    """The settings in the file. Relative paths are resolved against its folder, not the current one."""

    def __init__(self, settings_class: type[BaseSettings], path: Path) -> None:
        super().__init__(settings_class, path)
        if "config" in self.init_kwargs:
            raise ValueError("'config' names this file and cannot be a setting in it")
        if _LATE_SECRET in self.init_kwargs:
            raise ValueError("the pseudonym key does not belong in it: name a file, pseudonym_key_file")
        for name in _PATHS:
            if isinstance(self.init_kwargs.get(name), str):
                self.init_kwargs[name] = path.parent / self.init_kwargs[name]

    def _read_file(self, file_path: Path | Traversable) -> dict[str, Any]:
        return _read_toml(file_path)


def read_secret_file(path: Path) -> str:
    """Return the one line in `path`. Raises SettingsError, which never quotes the contents."""
    try:
        (line,) = path.read_text(encoding="utf-8-sig").strip().splitlines()
    except OSError as error:
        raise SettingsError(
            f"{path} cannot be read: {error.strerror}", hint="A variable that ends in _FILE names it."
        ) from None
    except ValueError:  # not one line, or not UTF-8
        raise SettingsError(f"{path} must contain one line of text") from None
    return line


def read_settings(**flags: Any) -> Settings:
    """Return the settings now in force; a flag that is None was not given.

    Reads the environment and the configuration file: `config`, else TAPEWISE_CONFIG, else `tapewise.toml`
    in the current folder, if there is one. Raises ConfigError, which names either the file and field or the
    setting and its possible origins. Raises SettingsError if a secret cannot be read.
    """
    given = {name: value for name, value in flags.items() if value is not None}
    if "home" in given and not given.keys() & {"database_url", "reader_url"}:
        # Flags take precedence: --home means the server in that home, whatever URL is set elsewhere.
        given |= {"database_url": None, "reader_url": None}
    named = given.get("config") or os.environ.get("TAPEWISE_CONFIG")
    given["config"] = file = Path(named or CONFIG_FILE)
    if named and not file.is_file():
        raise ConfigError(
            f"{file}: there is no such file", hint="It was named by --config or TAPEWISE_CONFIG."
        )
    try:
        return Settings(**given)
    except ValidationError as error:
        raise _describe_faults(file, error.errors()) from None
    except (ValueError, OSError) as error:  # tomllib's own error, a ValueError, names line and column
        raise ConfigError(f"{file} cannot be read: {error}") from error


def _describe_faults(file: Path, faults: Sequence[ErrorDetails]) -> ConfigError:
    """Return one error with a line for each fault."""
    lines, hints, meant = [], [], set()
    # Misspelt keys come first, so the intended key is not also reported as missing.
    for fault in sorted(faults, key=lambda each: each["type"] != "extra_forbidden"):
        place = fault["loc"]
        reason = fault["msg"].removeprefix("Value error, ")
        if fault["type"] == "extra_forbidden":
            near = _find_near(place)
            meant.add((*place[:-1], near))
            reason = "no such key" + (f"; did you mean '{near}'?" if near else "")
        elif fault["type"] == "missing" and place in meant:
            continue
        elif fault["type"] == "too_short" and any(_is_in(each["loc"], place) for each in faults):
            continue  # pydantic counts only valid items
        elif fault["type"] == "tuple_type":
            key = str(place[-1])
            reason = "expected a list: " + _LISTS.get(key, f'{key} = ["..."]')
        elif fault["type"] == "bool_type":
            reason = "expected true or false, without quotes"
        name = ".".join(map(str, place))
        is_of_file = place[0] == "archives" or fault["type"] == "extra_forbidden"
        where = f"{file}: {_locate(file, place)}" if is_of_file else f"setting '{name}'"
        lines.append(escape_controls(f"{where}: {reason}"))
        if place[0] == "archives":
            hints.append("docs/how-to/nightly.md shows how the file describes archives and their sources.")
        elif not is_of_file:
            hints.append(f"'{name}' came from a flag, TAPEWISE_{name.upper()} or {file}.")
    return ConfigError("\n".join(lines), hint="\n".join(dict.fromkeys(hints)) or None)


def _is_in(place: tuple[int | str, ...], outer: tuple[int | str, ...]) -> bool:
    return len(place) > len(outer) and place[: len(outer)] == outer


def _find_near(place: tuple[int | str, ...]) -> str | None:
    """The valid key that most resembles the one at `place`, or None if none does."""
    models: dict[int, type[BaseModel]] = {1: Settings, 3: ArchiveSettings, 5: SourceSettings}
    model = models[len(place)]  # archives, 0, sources, 1, key
    keys = [key for key in model.model_fields if key != "config"]
    return next(iter(get_close_matches(str(place[-1]), keys, 1)), None)


def _read_toml(file: Path | Traversable) -> dict[str, Any]:
    return tomllib.loads(file.read_text(encoding="utf-8-sig"))  # with or without a byte order mark


def _locate(file: Path, location: tuple[int | str, ...]) -> str:
    """Describe a place in the file; a list entry is given by its `name`, or else by its number."""
    value: Any = _read_toml(file) if file.is_file() else {}
    words: list[str] = []
    for part in location:
        try:
            value = value[part]
        except (KeyError, IndexError, TypeError):
            value = None
        if isinstance(part, int):
            name = value.get("name") or value.get("format") if isinstance(value, dict) else None
            words[-1] += f"[{name or part + 1}]"
        else:
            words.append(part)
    return ".".join(words)
