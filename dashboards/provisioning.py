"""Provision Superset: its roles and users, and the database, datasets, charts and dashboards of `assets/`.

Runs in Superset's environment, after `superset db upgrade`. It may run any number of times; a second run
changes nothing. Like superset_config.py, it reads these variables or files:

    SUPERSET_ADMIN_PASSWORD    the password of `admin`, who may do everything
    SUPERSET_VIEWER_PASSWORD   the password of `viewer`, who sees the dashboards and nothing else
    TAPEWISE_READER_URL        the warehouse, as the role that reads mart

All assets are marked `is_managed_externally`, so that they cannot be edited on Superset's own pages. The mark
also distinguishes them from a site's own assets, so that assets removed from `assets/` can be deleted from
Superset too.
"""

import json
from pathlib import Path
from typing import Any

import yaml
from layout import ORDER, place_descriptions
from superset.app import create_app
from superset_config import read_secret

ASSETS = Path(__file__).parent / "assets"
STYLE = Path(__file__).parent / "pages.css"
# Superset's import calls `yaml.safe_load` several times for each file. PyYAML's parser in Python took up to a
# third of the time of provisioning; libyaml's reads the same.
vars(yaml).update(SafeLoader=yaml.CSafeLoader, SafeDumper=yaml.CSafeDumper)
VIEWER = "Tapewise viewer"
# The permissions of Superset's role Gamma that a viewer needs to look, filter and download numbers. A viewer
# may not create, change or share anything, write SQL, or see who else has an account.
VIEWER_PERMISSIONS = {
    ("can_read", "Chart"),
    ("can_read", "Dashboard"),
    ("can_read", "Dataset"),
    ("can_read", "DashboardFilterStateRestApi"),
    ("can_write", "DashboardFilterStateRestApi"),  # remembers the chosen filters
    ("can_read", "DashboardPermalinkRestApi"),
    ("can_write", "DashboardPermalinkRestApi"),
    ("can_read", "ExploreFormDataRestApi"),
    ("can_write", "ExploreFormDataRestApi"),
    ("can_read", "Theme"),
    ("can_read", "CurrentUserRestApi"),
    ("can_get", "MenuApi"),
    ("can_read", "SecurityRestApi"),  # provides the token that every change requires
    ("can_language_pack", "Superset"),
    ("can_dashboard_permalink", "Superset"),
    ("can_time_range", "Api"),
    ("can_dashboard", "Superset"),
    ("can_slice", "Superset"),
    ("can_log", "Superset"),
    ("can_csv", "Superset"),
    ("can_view_chart_as_table", "Dashboard"),
    ("can_view_query", "Dashboard"),
    ("can_drill", "Dashboard"),
    ("can_recent_activity", "Log"),
    ("can_userinfo", "UserDBModelView"),
    ("resetmypassword", "UserDBModelView"),
    ("can_this_form_get", "ResetMyPasswordView"),
    ("can_this_form_post", "ResetMyPasswordView"),
    ("menu_access", "Dashboards"),
    ("menu_access", "Home"),
}


def read_assets(reader_url: str) -> dict[str, str]:
    """Return the files of `assets/` by path, with the warehouse's URL and the chart descriptions inserted."""
    contents = {str(path.relative_to(ASSETS)): path.read_text("utf-8") for path in ASSETS.rglob("*.yaml")}
    assets = {name: yaml.safe_load(text) for name, text in contents.items()}
    descriptions = {
        asset["uuid"]: asset["description"] for name, asset in assets.items() if name.startswith("charts/")
    }
    dashboards = [asset for name, asset in assets.items() if name.startswith("dashboards/")]
    dashboards.sort(key=lambda each: (*(each["slug"] != slug for slug in ORDER), each["dashboard_title"]))
    pages = {each["slug"]: each["dashboard_title"] for each in dashboards}
    style = STYLE.read_text("utf-8")
    for name, asset in assets.items():
        if name.startswith("databases/"):
            contents[name] = yaml.safe_dump(asset | {"sqlalchemy_uri": reader_url})
        if name.startswith("dashboards/"):
            page = place_descriptions(asset, descriptions, pages)
            contents[name] = yaml.safe_dump(page | {"css": f"{page['css']}\n{style}"})
    return contents


def set_user(manager: Any, name: str, role: Any, password: str) -> Any:
    """Create the user, or set the password and role of an existing one; return the user."""
    from werkzeug.security import check_password_hash

    user = manager.find_user(name)
    if user is None:
        user = manager.add_user(name, "Tapewise", name, f"{name}@localhost", role, password)
        if not user:
            raise SystemExit(f"provisioning.py: Superset did not accept the user '{name}'; see its log.")
        return user
    if user.roles != [role]:
        user.roles = [role]
        manager.update_user(user)
    if not check_password_hash(user.password, password):
        manager.reset_password(user.id, password)
    return user


def import_assets(contents: dict[str, str], admin: Any) -> None:
    """Import database, datasets, charts and dashboards from the files, as the user `admin`."""
    from superset.commands.importers.v1.assets import ImportAssetsCommand
    from superset.utils.core import override_user

    with override_user(admin):
        ImportAssetsCommand(contents).run()


def set_annotations(contents: dict[str, str]) -> None:
    """Give charts their annotations, which Superset's import leaves out.

    The files name the charts that annotations draw by UUID, and Superset by number.
    """
    from superset import db
    from superset.models.slice import Slice

    charts = {str(chart.uuid): chart for chart in db.session.query(Slice)}
    for name, text in contents.items():
        asset = yaml.safe_load(text) if name.startswith("charts/") else {}
        layers = asset.get("params", {}).get("annotation_layers")
        if not layers:
            continue
        chart = charts[asset["uuid"]]
        params, question = json.loads(chart.params), json.loads(chart.query_context)
        params["annotation_layers"] = [_number(layer, charts) for layer in layers]
        for query, recorded in zip(
            question["queries"], json.loads(asset["query_context"])["queries"], strict=True
        ):
            query["annotation_layers"] = [_number(layer, charts) for layer in recorded["annotation_layers"]]
        chart.params, chart.query_context = json.dumps(params), json.dumps(question)
    db.session.commit()


def _number(layer: dict[str, Any], charts: dict[str, Any]) -> dict[str, Any]:
    return layer | {"value": charts[layer["value"]].id}


def delete_what_is_gone(contents: dict[str, str]) -> list[str]:
    """Delete assets that came from `assets/` but are no longer there; return their names."""
    from superset import db
    from superset.connectors.sqla.models import SqlaTable
    from superset.models.dashboard import Dashboard
    from superset.models.slice import Slice

    kept = {str(yaml.safe_load(text).get("uuid")) for text in contents.values()}
    gone = []
    for model in (Dashboard, Slice, SqlaTable):
        for asset in db.session.query(model).filter_by(is_managed_externally=True):
            if str(asset.uuid) not in kept:
                gone.append(str(asset))
                db.session.delete(asset)
    db.session.commit()
    return gone


def grant_viewer(manager: Any, contents: dict[str, str]) -> Any:
    """Return the viewer's role, with exactly its permissions and access to the datasets in `assets/`."""
    from superset import db
    from superset.connectors.sqla.models import SqlaTable

    role = manager.find_role(VIEWER) or manager.add_role(VIEWER)
    granted = [manager.find_permission_view_menu(*names) for names in sorted(VIEWER_PERMISSIONS)]
    uuids = {yaml.safe_load(text)["uuid"] for name, text in contents.items() if name.startswith("datasets/")}
    granted += [
        manager.find_permission_view_menu("datasource_access", table.perm)
        for table in db.session.query(SqlaTable)
        if str(table.uuid) in uuids
    ]
    granted = [permission for permission in granted if permission is not None]
    if set(role.permissions) != set(granted):
        role.permissions = granted
    db.session.commit()
    return role


def main() -> None:
    """Provision Superset, and report what was done."""
    admin_password = read_secret("SUPERSET_ADMIN_PASSWORD")
    viewer_password = read_secret("SUPERSET_VIEWER_PASSWORD")
    reader_url = read_secret("TAPEWISE_READER_URL")
    app = create_app()
    with app.app_context():
        manager = app.appbuilder.sm
        app.appbuilder.add_permissions(update_perms=True)  # `superset init` consists of these two calls
        manager.sync_role_definitions()
        contents = read_assets(reader_url)
        import_assets(contents, set_user(manager, "admin", manager.find_role("Admin"), admin_password))
        set_annotations(contents)
        gone = delete_what_is_gone(contents)
        set_user(manager, "viewer", grant_viewer(manager, contents), viewer_password)
    counts = {
        kind: sum(name.startswith(f"{kind}/") for name in contents)
        for kind in ("datasets", "charts", "dashboards")
    }
    print(", ".join(f"{count} {kind}" for kind, count in counts.items()) + " are in place")
    for name in gone:
        print(f"deleted, because it is no longer in assets/: {name}")


if __name__ == "__main__":
    main()
