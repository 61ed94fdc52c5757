"""Deployment files: they parse, and what they name exists, in the project or beside it. No engine is asked."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import get_commands

from runs.queues import EVERY, Queue

ROOT = Path(__file__).resolve().parents[1]
DEPLOY = ROOT / "deploy"
MANIFESTS = sorted((DEPLOY / "kubernetes").glob("*.yaml"))
FILES = [path for path in DEPLOY.rglob("*") if path.is_file() and path.name != ".env"]
EACH = pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
# Of other programs: boto's own, the engines', and Python's.
THEIRS = {"AWS_DEFAULT_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "PYTHONUNBUFFERED"}


def manifests() -> list[dict[str, Any]]:
    return [document for path in MANIFESTS for document in yaml.safe_load_all(path.read_text())]


def of_kind(kind: str) -> list[dict[str, Any]]:
    return [document for document in manifests() if document["kind"] == kind]


def compose() -> dict[str, Any]:
    parsed: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    return parsed


def commands() -> Iterator[list[str]]:
    """Every command line of ours, as words."""
    for line in (DEPLOY / "Procfile").read_text().splitlines():
        yield line.partition(": ")[2].split()
    for service in compose()["services"].values():
        if "build" in service:
            yield service["command"]
    for document in of_kind("Deployment") + of_kind("Job"):
        for container in document["spec"]["template"]["spec"]["containers"]:
            yield container["args"]
    found = re.search(r"^CMD \[(.*)\]$", (DEPLOY / "Dockerfile").read_text(), flags=re.MULTILINE)
    assert found is not None
    yield [word.strip(' "') for word in found[1].split(",")]


@EACH
def test_every_variable_of_ours_is_one_that_the_settings_read(path):
    settings = (ROOT / "proofroom" / "settings.py").read_text()
    named = set(
        re.findall(r"\b(PROOFROOM_[A-Z_0-9]+|DATABASE_URL|REDIS_URL|AWS_[A-Z_]+)\b", path.read_text())
    )

    assert {name for name in named if f'"{name}"' not in settings} <= THEIRS


def test_every_command_exists_and_takes_its_options():
    for words in commands():
        match words:
            case ["proofroom", "serve", *options]:
                assert {word for word in options if word.startswith("-")} == {
                    "--no-worker",
                    "--host",
                    "--port",
                }
            case ["proofroom", name]:
                assert name in get_commands()
            case ["celery", "-A", "proofroom", "worker", "-Q", queues, "-n", name, "--loglevel", "INFO"]:
                assert {Queue(queue) for queue in queues.split(",")} <= EVERY
                assert name.endswith("@%h")
            case _:
                pytest.fail(f"{words} is none of the commands that are known here")


@pytest.mark.parametrize("source", ["Procfile", "compose", "kubernetes"])
def test_every_queue_has_a_worker(source):
    lines = {
        "Procfile": (DEPLOY / "Procfile").read_text().split(),
        "compose": [
            word for service in compose()["services"].values() for word in service.get("command", [])
        ],
        "kubernetes": [
            word
            for document in of_kind("Deployment")
            for container in document["spec"]["template"]["spec"]["containers"]
            for word in container["args"]
        ],
    }[source]
    taken = [after for word, after in itertools.pairwise(lines) if word == "-Q"]

    assert {Queue(queue) for queues in taken for queue in queues.split(",")} == EVERY


def test_services_of_compose_depend_on_services_and_mount_volumes_that_there_are():
    parsed = compose()
    services = parsed["services"]

    for service in services.values():
        assert set(service.get("depends_on", [])) <= set(services)
        for mount in service.get("volumes", []):
            assert mount.split(":")[0] in parsed["volumes"]
        if "build" in service:
            assert (DEPLOY / service["build"]["context"] / service["build"]["dockerfile"]).is_file()
    example = (DEPLOY / "env.example").read_text()
    needed = set(re.findall(r"(?<!\$)\$\{([A-Z_]+)", (DEPLOY / "compose.yaml").read_text()))
    assert {name for name in needed if f"\n{name}=" not in example} == set()
    assert re.findall(r"@(\w+):\d+/proofroom|redis://(\w+):", (DEPLOY / "compose.yaml").read_text()) == [
        ("postgres", ""),
        ("", "redis"),
    ]


def test_pods_name_configuration_volumes_and_ports_that_there_are():
    kept = {(document["kind"], document["metadata"]["name"]) for document in manifests()}

    for document in of_kind("Deployment") + of_kind("Job"):
        pod = document["spec"]["template"]["spec"]
        volumes = {volume["name"] for volume in pod.get("volumes", [])}
        for container in pod["containers"]:
            for source in container["envFrom"]:
                ((kind, named),) = source.items()
                assert ({"configMapRef": "ConfigMap", "secretRef": "Secret"}[kind], named["name"]) in kept
            assert {mount["name"] for mount in container.get("volumeMounts", [])} <= volumes
            ports = {port["name"] for port in container.get("ports", [])}
            for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
                if asked := container.get(probe, {}).get("httpGet"):
                    assert asked["path"] in {"/health/live", "/health/ready"}
                    assert asked["port"] in ports
    for deployment in of_kind("Deployment"):
        wanted = deployment["spec"]["selector"]["matchLabels"]
        assert wanted == deployment["spec"]["template"]["metadata"]["labels"]
    for service in of_kind("Service"):
        assert any(
            service["spec"]["selector"] == deployment["spec"]["selector"]["matchLabels"]
            for deployment in of_kind("Deployment")
        )


def test_what_scales_names_a_deployment_a_queue_and_a_figure_that_there_are():
    deployments = {document["metadata"]["name"]: document for document in of_kind("Deployment")}

    for scaled in of_kind("ScaledObject"):
        (container,) = deployments[scaled["spec"]["scaleTargetRef"]["name"]]["spec"]["template"]["spec"][
            "containers"
        ]
        queues = container["args"][container["args"].index("-Q") + 1].split(",")
        places = [trigger["metadata"]["valueLocation"] for trigger in scaled["spec"]["triggers"]]
        assert places == [f"queues.{queue}.waiting" for queue in queues]
        for trigger in scaled["spec"]["triggers"]:
            assert trigger["metadata"]["url"].endswith("//proofroom/metrics/queues")
    (secret,) = of_kind("Secret")
    (authentication,) = of_kind("TriggerAuthentication")
    for target in authentication["spec"]["secretTargetRef"]:
        assert (target["name"], target["key"] in secret["stringData"]) == ("proofroom", True)


def test_no_secret_is_kept_in_the_files():
    for name in (
        "PROOFROOM_SECRET_KEY",
        "PROOFROOM_METRICS_TOKEN",
        "AWS_SECRET_ACCESS_KEY",
        "POSTGRES_PASSWORD",
    ):
        for path in FILES:
            for value in re.findall(rf"^\s*{name}[:=]\s*(\S.*)$", path.read_text(), flags=re.MULTILINE):
                assert value.startswith(("<", "${")), f"{path.name}: {name}"
