"""Superset's settings; Superset imports this module by name. Secrets come only from files or the environment.

Required, as a variable or, with `_FILE` appended to its name, as a file that contains it:

    SUPERSET_SECRET_KEY       signs sessions and encrypts the database URL
    SUPERSET_METADATA_URL     Superset's own database (users, assets): a SQLAlchemy URL
    SUPERSET_STATE_FOLDER     the folder of Superset's cache

Superset does not start if one of them is missing.
"""

import os
from pathlib import Path
from typing import Any
from urllib.parse import quote

from colour_schemes import CATEGORICAL, CURVES, LINES, SEQUENTIAL
from connections import keep_connections, set_pool
from events import ChangeLogger
from flask import Flask, Response, redirect, request
from jinja2 import ChoiceLoader, FileSystemLoader
from parse_trees import keep_parse_trees
from reports import blueprint, write_reports
from source_limits import write_limits
from superset import config
from viewers import ViewerSecurityManager
from warming import read_interval_s


def read_secret(name: str) -> str:
    """Return the variable `name`, or the contents of the file in `name`_FILE; one of them is required."""
    value = os.environ.get(name, "")
    if file := os.environ.get(f"{name}_FILE"):
        value = Path(file).read_text(encoding="utf-8").strip()
    if not value:
        raise SystemExit(f"superset_config.py: set {name}, or {name}_FILE to a file that contains it.")
    return value


SECRET_KEY = read_secret("SUPERSET_SECRET_KEY")
if len(SECRET_KEY) < 32:
    raise SystemExit("superset_config.py: SUPERSET_SECRET_KEY must have 32 characters or more.")
# After changing the key, set this to the old key and run `superset re-encrypt-secrets`.
PREVIOUS_SECRET_KEY = os.environ.get("SUPERSET_PREVIOUS_SECRET_KEY") or None
SQLALCHEMY_DATABASE_URI = read_secret("SUPERSET_METADATA_URL")
DATA_DIR = read_secret("SUPERSET_STATE_FOLDER")

APP_NAME = "Tapewise"
TEMPLATES = Path(__file__).parent / "templates"
# The logo is the name, as a picture of its text, and leads to the first page.
_LOGO = (
    "<svg xmlns='http://www.w3.org/2000/svg' width='110' height='24'><text x='0' y='18'"
    " font-family='sans-serif' font-size='20' font-weight='600' fill='{colour}'>Tapewise</text></svg>"
)
HOME = "/superset/dashboard/tapewise-morning/"


def _write_logo(colour: str) -> str:
    return "data:image/svg+xml," + quote(_LOGO.format(colour=colour))


def _merge_series(series: list[dict[str, Any]]) -> dict[str, Any]:
    """Return options that are merged into a chart's series, by place. Each chart is wider than the query."""
    return {"media": [{"query": {"minWidth": 1}, "option": {"series": series}}]}


def _write_theme(theme: dict[str, Any], link: str, grey: str) -> dict[str, Any]:
    """Return Superset's theme with our logo, colours of links and grey text, and settings of charts."""
    tokens = {"brandLogoAlt": APP_NAME, "brandLogoUrl": _write_logo(link), "brandLogoHref": HOME}
    # Superset's own have less than 4.5:1 on their ground.
    tokens |= {"colorLink": link, "colorTextTertiary": grey}
    return theme | {
        "token": theme.get("token", {}) | tokens,
        "echartsOptionsOverridesByChartType": {
            # A legend of box plots would only name the parts of a box.
            "box_plot": {"legend": {"show": False}},
            # Bars have patterns besides colours.
            "echarts_timeseries_bar": {"aria": {"enabled": True, "decal": {"show": True}}},
            # Lines have dashes and symbols besides colours. Options of series would replace a chart's own.
            # Only those of `media` are merged into them.
            "echarts_timeseries_line": _merge_series(LINES),
            # Only curves over sizes have this type. Lines over days have gaps where a day is not known.
            "echarts_timeseries_smooth": _merge_series(CURVES),
        },
    }


THEME_DEFAULT = _write_theme(config.THEME_DEFAULT, link="#0072b2", grey="#666666")
THEME_DARK = _write_theme(config.THEME_DARK, link="#56b4e9", grey="#a6a6a6")


def _find_home() -> Response | None:
    """Superset's own first page lists pages by age; ours is This morning."""
    return redirect(HOME) if request.path in ("/", "/superset/welcome/") else None


def _prepare(app: Flask) -> None:
    app.before_request(_find_home)
    keep_connections()
    keep_parse_trees()
    # Our templates come before Superset's own.
    app.jinja_loader = ChoiceLoader([FileSystemLoader(TEMPLATES), app.jinja_loader])


FLASK_APP_MUTATOR = _prepare
BLUEPRINTS = [blueprint]
ROW_LIMIT = 10_000
# The datasets call functions of mart with the dashboard's filters as arguments. Superset quotes a viewer's
# filter values (`where_in`) before inserting them into the SQL, and the SQL's role may only read mart.
read_interval_s()  # a wrong number ends the start
write_limits()  # if tapewise.toml cannot be read, this ends the start and not each page
JINJA_CONTEXT_ADDONS = {"source_limits": write_limits, "written_reports": write_reports}
DB_CONNECTION_MUTATOR = set_pool
EVENT_LOGGER = ChangeLogger()
FEATURE_FLAGS = {"ENABLE_TEMPLATE_PROCESSING": True, "ALERT_REPORTS": False, "EMBEDDED_SUPERSET": False}

# There is no Redis and no Celery: a single process answers all requests, and its cache consists of files.
CACHE_TIMEOUT_S = 3600  # answers from before the last load are not used: see freshness.py
_FILES = {"CACHE_TYPE": "FileSystemCache", "CACHE_DEFAULT_TIMEOUT": CACHE_TIMEOUT_S, "CACHE_THRESHOLD": 5000}
CACHE_CONFIG = _FILES | {"CACHE_DIR": f"{DATA_DIR}/cache/metadata"}
DATA_CACHE_CONFIG = _FILES | {"CACHE_DIR": f"{DATA_DIR}/cache/data"}
FILTER_STATE_CACHE_CONFIG = _FILES | {"CACHE_DIR": f"{DATA_DIR}/cache/filters"}
EXPLORE_FORM_DATA_CACHE_CONFIG = _FILES | {"CACHE_DIR": f"{DATA_DIR}/cache/forms"}
RATELIMIT_STORAGE_URI = "memory://"
SUPERSET_WEBSERVER_TIMEOUT = 110  # seconds; less than gunicorn's timeout

CUSTOM_SECURITY_MANAGER = ViewerSecurityManager
# A login is required, and users cannot register themselves.
PUBLIC_ROLE_LIKE = None
AUTH_USER_REGISTRATION = False
WTF_CSRF_ENABLED = True
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
# Set SUPERSET_BEHIND_TLS=1 behind a TLS proxy, so that the session cookie is never sent without TLS.
SESSION_COOKIE_SECURE = os.environ.get("SUPERSET_BEHIND_TLS") == "1"
ENABLE_PROXY_FIX = SESSION_COOKIE_SECURE

# By default, Superset's pages load a tracking pixel and map tiles from third parties; ours load nothing.
TALISMAN_CONFIG = {
    "content_security_policy": {
        "default-src": ["'self'"],
        "base-uri": ["'self'"],
        "img-src": ["'self'", "blob:", "data:"],
        "worker-src": ["'self'", "blob:"],
        "connect-src": ["'self'"],
        "object-src": "'none'",
        "style-src": ["'self'", "'unsafe-inline'"],
        "font-src": ["'self'"],
        "script-src": ["'self'", "'strict-dynamic'"],
        "frame-ancestors": ["'none'"],
    },
    "content_security_policy_nonce_in": ["script-src"],
    "force_https": False,
    "session_cookie_secure": SESSION_COOKIE_SECURE,
}

EXTRA_CATEGORICAL_COLOR_SCHEMES = [CATEGORICAL]
EXTRA_SEQUENTIAL_COLOR_SCHEMES = [SEQUENTIAL]
