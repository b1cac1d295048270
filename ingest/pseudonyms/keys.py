"""The key that turns names into pseudonyms: where it comes from, and what is derived from it.

The key is kept in the environment or in a file, never in the database, a message or a command's arguments.
Everything that the warehouse gets is an HMAC-SHA-256 with one of three keys derived from this key. Pseudonyms
and line hashes use different derived keys, so knowing one does not help to guess the other.
"""

import hashlib
import hmac

import polars as pl

from tapewise.ingest.pseudonyms.hashes import hash_with_key, make_hmac
from tapewise.schema.errors import SettingsError, SourceError
from tapewise.schema.settings import Settings, read_secret_file

MIN_KEY_BYTES = 32
# Among 10 million names, the chance that two share a pseudonym is 3 in a million.
DIGITS = 16
MARK = "p"
HOW_TO_MAKE_ONE = (
    "Make one with `(umask 077; openssl rand -hex 32 > pseudonym-key)`, keep a copy where the database's"
    " backups are not, and name its file: TAPEWISE_PSEUDONYM_KEY_FILE, or tapewise.toml's pseudonym_key_file."
)


class PseudonymKey:
    """A key, of which only values derived from the secret are kept. Its `id` reveals nothing about it.

    Raises SettingsError if the secret is too short.
    """

    def __init__(self, secret: str) -> None:
        if len(secret.encode()) < MIN_KEY_BYTES:
            raise SettingsError(
                f"the key for pseudonyms has fewer than {MIN_KEY_BYTES} bytes", hint=HOW_TO_MAKE_ONE
            )
        self.id = _derive(secret, "id")[:DIGITS]
        self._names = _derive(secret, "names")
        self._lines = _derive(secret, "lines")

    def __repr__(self) -> str:
        return f"PseudonymKey({self.id})"

    def hide_names(self, names: pl.Expr) -> pl.Expr:
        """The pseudonym of each name (String): `p` and 16 hexadecimal digits; null stays null."""
        return pl.lit(MARK) + make_hmac(names, self._names).str.head(DIGITS)

    def hash_lines(self, lines: pl.Expr) -> pl.Expr:
        """A signed 64-bit hash of each line (Binary or String), which no one can make without the key."""
        return hash_with_key(lines, self._lines)

    def seal_digest(self, digest: str) -> str:
        """Return a keyed digest (128 bits, hexadecimal) to be used instead of the unkeyed digest of lines.

        The unkeyed digest of a short file, or of a short piece of a file, would allow names to be guessed.
        """
        return hmac.new(self._lines.encode(), digest.encode(), hashlib.sha256).hexdigest()[:32]


def read_key(settings: Settings) -> PseudonymKey | None:
    """The key from the environment or from a file, or None if the settings name neither.

    The key is read when it is needed, not with the settings, so that people who may not read it can still
    query the warehouse. Raises SettingsError, whose message never contains the key.
    """
    if settings.pseudonym_key is not None:
        return PseudonymKey(settings.pseudonym_key.get_secret_value())
    if settings.pseudonym_key_file is not None:
        return PseudonymKey(read_secret_file(settings.pseudonym_key_file))
    return None


def get_key(settings: Settings) -> PseudonymKey:
    """The key, for callers that require one. Raises SettingsError if there is none."""
    key = read_key(settings)
    if key is None:
        raise SettingsError("pseudonyms were requested, but there is no key for them", hint=HOW_TO_MAKE_ONE)
    return key


def check_key_id(label: str, held: str | None, given: str | None) -> None:
    """Raise SourceError if the names of source `label` are not stored in the way that is requested now.

    `held` and `given` are ids of keys for pseudonyms; None means that names are stored unchanged.
    """
    if held == given:
        return
    other = "`tapewise sources drop` this source and read its logs again"
    if given is None:
        raise SourceError(
            f"the names of {label} are pseudonyms, but none are requested now",
            hint=f"Give --pseudonymise (in tapewise.toml: pseudonymise = true), or {other}.",
        )
    if held is None:
        raise SourceError(
            f"the names of {label} were loaded as they are, but pseudonyms are requested now",
            hint=f"Omit --pseudonymise (in tapewise.toml: pseudonymise), or {other}.",
        )
    raise SourceError(
        f"the pseudonyms of {label} were made with key {held}, not with {given}",
        hint=f"Give the key with which they were made. If it is lost, {other}.",
    )


def _derive(secret: str, purpose: str) -> str:
    return hmac.new(secret.encode(), f"tapewise pseudonyms: {purpose}".encode(), hashlib.sha256).hexdigest()
