"""Compose accepts docker-compose.yml, which protects secrets and gives each service only what it needs."""

import re
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.compose.stack import CODE, FILE, TREE, build_tool, read_services, read_variables

EXAMPLE = TREE / "docker" / "env.example"
SERVICES = read_services(read_variables(EXAMPLE))


def check_with_compose(folder: Path, text: str, environment: str) -> subprocess.CompletedProcess[str]:
    (folder / "docker-compose.yml").write_text(text)
    (folder / ".env").write_text(environment)
    return subprocess.run(
        [build_tool("compose-check")],
        cwd=folder,
        env={"PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )


def drop_secret(tree: dict[str, Any]) -> None:
    del tree["secrets"]["loader_url"]


def depend_on_unknown(tree: dict[str, Any]) -> None:
    tree["services"]["superset"]["depends_on"] = {"superset-start": {"condition": "service_started"}}


def misspell_key(tree: dict[str, Any]) -> None:
    tree["services"]["postgres"]["helthcheck"] = tree["services"]["postgres"].pop("healthcheck")


@pytest.mark.study(*CODE, together=True)
class TestWithItsLibrary:
    def test_it_accepts_the_file(self, tmp_path: Path) -> None:
        done = check_with_compose(tmp_path, FILE.read_text(), EXAMPLE.read_text())
        assert (done.returncode, done.stderr) == (0, "")

    @pytest.mark.parametrize("name", ["TAPEWISE_LOGS", "TAPEWISE_SITE_FILE"])
    def test_it_names_the_variables_that_env_lacks(self, tmp_path: Path, name: str) -> None:
        environment = re.sub(f"^{name}=.*$", "", EXAMPLE.read_text(), flags=re.MULTILINE)
        done = check_with_compose(tmp_path, FILE.read_text(), environment)
        assert (
            done.returncode == 1
            and f"required variable {name} is missing a value: set it in .env" in done.stderr
        )

    @pytest.mark.parametrize(
        ("spoil", "said"),
        [
            (drop_secret, "undefined secret loader_url"),
            (depend_on_unknown, 'depends on undefined service "superset-start"'),
            (misspell_key, "helthcheck"),
        ],
    )
    def test_it_refuses_a_wrong_file(
        self, tmp_path: Path, spoil: Callable[[dict[str, Any]], None], said: str
    ) -> None:
        tree = yaml.safe_load(FILE.read_text())
        spoil(tree)
        done = check_with_compose(tmp_path, yaml.safe_dump(tree), EXAMPLE.read_text())
        assert done.returncode != 0 and said in done.stderr


def test_everything_that_services_refer_to_is_defined() -> None:
    tree = yaml.safe_load(FILE.read_text())
    named: dict[str, set[str]] = {"secrets": set(), "networks": set(), "volumes": set(), "services": set()}
    for service in tree["services"].values():
        named["services"] |= set(service.get("depends_on", {}))
        named["secrets"] |= set(service.get("secrets", []))
        named["networks"] |= set(service["networks"])
        named["volumes"] |= {
            each.split(":")[0] for each in service.get("volumes", []) if isinstance(each, str)
        }
    for kind in ("secrets", "networks", "volumes"):
        assert named[kind] == set(tree[kind])
    assert named["services"] <= set(tree["services"])


@pytest.mark.parametrize("name", SERVICES)
def test_every_service_is_hardened(name: str) -> None:
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"] and "cap_add" not in service and "privileged" not in service
    assert service["security_opt"] == ["no-new-privileges:true"]
    if "build" in service:
        dockerfile = (TREE / service["build"]["dockerfile"]).read_text()
        assert re.findall(r"^USER (.*)$", dockerfile, re.MULTILINE) == ["10001:10001"]
    else:
        assert service["user"] == "postgres"


def test_one_port_is_published_and_only_to_this_machine() -> None:
    assert {name: service["ports"] for name, service in SERVICES.items() if "ports" in service} == {
        "superset": ["127.0.0.1:8088:8088"]
    }
    assert [name for name, service in SERVICES.items() if "pages" in service["networks"]] == ["superset"]


def test_each_service_has_only_the_secrets_that_it_names() -> None:
    for name, service in SERVICES.items():
        named = set(
            re.findall(r"/run/secrets/(\w+)", str(service.get("environment")) + str(service.get("command")))
        )
        assert named == set(service.get("secrets", [])), name
    with_owner = {name for name, service in SERVICES.items() if "owner_url" in service.get("secrets", [])}
    assert with_owner == {"postgres", "migrate"}


def test_the_sites_files_are_mounted_read_only() -> None:
    for service in SERVICES.values():
        for volume in service.get("volumes", []):
            if isinstance(volume, dict):
                assert volume["read_only"] is True and volume["bind"] == {"create_host_path": False}


def test_secrets_are_random_private_and_never_overwritten(tmp_path: Path) -> None:
    def make(folder: Path) -> dict[str, str]:
        subprocess.run([TREE / "docker" / "make-secrets", folder], check=True, capture_output=True)
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o444}
        return {path.name: path.read_text() for path in folder.iterdir()}

    first = make(tmp_path / "a")
    assert set(first) == set(yaml.safe_load(FILE.read_text())["secrets"])
    random = re.findall(r"[0-9a-f]{48}", "".join(first.values()))
    assert len(set(random)) == len(random) == len(first)
    (tmp_path / "a" / "loader_url").unlink()
    second = make(tmp_path / "a")
    assert {name for name in first if first[name] != second[name]} == {"loader_url"}
    assert not set(make(tmp_path / "b").values()) & set(first.values())


def test_images_install_only_from_the_hashed_locks() -> None:
    for name, lock in [("tapewise", "requirements/runtime.txt"), ("superset", "dashboards/requirements.txt")]:
        dockerfile = re.sub(r"\\\n *", "", (TREE / "docker" / "images" / name / "Dockerfile").read_text())
        installs = [line for line in dockerfile.splitlines() if " install " in line and " pip " in line]
        assert f"COPY {lock}" in dockerfile and "--require-hashes" in installs[0]
        assert all("--no-index" in line for line in installs[1:])
        final = dockerfile.rpartition("\nFROM ")[2]
        assert final.startswith("python:3.11-slim-bookworm\n") and "pip" not in final and "apt" not in final


def test_dockerignore_allows_what_the_dockerfiles_copy() -> None:
    lines = (TREE / ".dockerignore").read_text().splitlines()
    let_in = {line[1:] for line in lines if line.startswith("!")}
    copied = set()
    for dockerfile in (TREE / "docker" / "images").glob("*/Dockerfile"):
        for line in re.findall(r"^COPY (?!--from)(.*)$", dockerfile.read_text(), re.MULTILINE):
            copied |= set(line.split()[:-1])
    assert {path for path in copied if not (TREE / path).exists()} == set()
    assert {path for path in copied if path not in let_in and path.split("/")[0] not in let_in} == set()
    assert {
        path for path in let_in if path not in copied and not any(c.startswith(f"{path}/") for c in copied)
    } == set()


def test_versions_are_the_same_everywhere() -> None:
    makefile = (TREE / "Makefile").read_text()
    (supercronic,) = re.findall(r"^SUPERCRONIC_VERSION := (.*)$", makefile, re.MULTILINE)
    assert (
        f"supercronic@{supercronic}\n" in (TREE / "docker" / "images" / "tapewise" / "Dockerfile").read_text()
    )
    (version,) = re.findall(r'^version = "(.*)"$', (TREE / "pyproject.toml").read_text(), re.MULTILINE)
    images = {service["image"] for service in SERVICES.values()}
    assert images == {"postgres:18", f"tapewise:{version}", f"tapewise-superset:{version}"}
