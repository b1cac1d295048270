"""Settings: a flag of the command line over an environment variable over `tapewise.toml`.

    flag              variable                   tapewise.toml
    --home            TAPEWISE_HOME              home = "..."
    --database-url    TAPEWISE_DATABASE_URL      database_url = "postgresql://..."
    --reader-url      TAPEWISE_READER_URL        reader_url = "postgresql://..."
                      TAPEWISE_POSTGRES_VERSION  postgres_version = 18

Without a database's URL the warehouse lives in an embedded PostgreSQL below `home`. With one,
`reader_url` is how `tapewise sql` logs in as the reading role.
"""

import os
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError, field_validator
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from schema.binaries import INSTALL_FOLDERS
from schema.errors import SettingsError

CONFIG_FILE = "tapewise.toml"


def default_home() -> Path:
    """Where the embedded PostgreSQL lives unless told otherwise (root: `/var/lib/tapewise/home`)."""
    if os.geteuid() == 0:
        return Path("/var/lib/tapewise/home")
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(data) / "tapewise"


class Settings(BaseSettings):
    """What every command needs to know to find its warehouse."""

    model_config = SettingsConfigDict(env_prefix="TAPEWISE_", extra="forbid", frozen=True)

    home: Path = Field(default_factory=default_home)
    database_url: str | None = None
    reader_url: str | None = None
    postgres_version: int = 18

    @field_validator("postgres_version")
    @classmethod
    def _check_version(cls, version: int) -> int:
        if version not in INSTALL_FOLDERS:
            known = " or ".join(map(str, sorted(INSTALL_FOLDERS)))
            raise ValueError(f"the embedded PostgreSQL is {known}, not {version}")
        return version

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003  # pydantic passes it
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003  # pydantic passes it
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Flags, environment, file, in this order; no .env files."""
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls, CONFIG_FILE)


def read_settings(**flags: Any) -> Settings:
    """The settings in force here and now; a flag that is None was not given.

    Reads the environment and `tapewise.toml` in the current folder. Raises SettingsError that names
    the setting and where it may come from.
    """
    given = {name: value for name, value in flags.items() if value is not None}
    if "home" in given and not given.keys() & {"database_url", "reader_url"}:
        # A flag wins: who names a home means the server in it, whatever URL the environment or the file has.
        given |= {"database_url": None, "reader_url": None}
    try:
        return Settings(**given)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        raise SettingsError(
            f"setting '{name}': {first['msg']}",
            hint=f"It was read from a flag, TAPEWISE_{name.upper()} or {CONFIG_FILE}.",
        ) from None
    except ValueError as error:  # tomllib's own error, a ValueError, names line and column
        raise SettingsError(f"{CONFIG_FILE} cannot be read: {error}") from error
