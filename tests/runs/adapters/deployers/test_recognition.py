"""How a candidate is started is decided from its files, or from the task's wish."""

import json

import pytest

from benchmark.packs import deploy as pack_rules
from runs.adapters.deployers.recognition import NotRecognised, plan_for
from runs.ports import DeploymentKind

STATIC, VITE, NODE, PYTHON = (
    DeploymentKind.STATIC,
    DeploymentKind.VITE,
    DeploymentKind.NODE,
    DeploymentKind.PYTHON,
)
FLASK = "from flask import Flask\nshop = Flask(__name__)\n"
FASTAPI = "from fastapi import FastAPI\napi: FastAPI = FastAPI()\n"


@pytest.fixture
def plan(tmp_path):
    def plan_of(files, **deploy):
        for name, content in files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(content if isinstance(content, str) else json.dumps(content))
        return plan_for(tmp_path, deploy)

    return plan_of


@pytest.mark.parametrize(
    ("files", "kind", "start"),
    [
        ({"index.html": ""}, STATIC, ()),
        ({"dist/index.html": ""}, STATIC, ()),
        ({"shop.html": ""}, STATIC, ()),
        ({"index.html": "", "tools.py": "", "README.md": ""}, STATIC, ()),
        ({"index.html": "", "package.json": {"devDependencies": {"prettier": "*"}}}, STATIC, ()),
        ({"package.json": {"scripts": {"start": "node x.js"}}}, NODE, ("{npm}", "start")),
        ({"package.json": {"main": "lib/go.js"}, "lib/go.js": ""}, NODE, ("node", "lib/go.js")),
        ({"package.json": {"dependencies": {"express": "4"}}, "server.js": ""}, NODE, ("node", "server.js")),
        ({"server.js": "http.createServer().listen(1)", "index.html": ""}, NODE, ("node", "server.js")),
        ({"app.js": "document.title", "index.html": ""}, STATIC, ()),
        ({"package.json": {"scripts": {"dev": "next dev"}}}, NODE, ("{npm}", "run", "dev")),
        (
            {"package.json": {"scripts": {"start": "node s.js"}, "devDependencies": {"vite": "5"}}},
            NODE,
            ("{npm}", "start"),
        ),
        ({"manage.py": ""}, PYTHON, ("{python}", "manage.py", "runserver", "127.0.0.1:{port}", "--noreload")),
        ({"main.py": "print(1)"}, PYTHON, ("{python}", "main.py")),
        ({"app.py": FLASK + "shop.run()", "index.html": ""}, PYTHON, ("{python}", "app.py")),
        (
            {"app.py": FLASK},
            PYTHON,
            *[
                (
                    [
                        "{python}",
                        "-m",
                        "flask",
                        "--app",
                        "app:shop",
                        "run",
                        "--host",
                        "127.0.0.1",
                        "--port",
                        "{port}",
                    ],
                )
            ],
        ),
        (
            {"src/main.py": FASTAPI},
            PYTHON,
            *[(["{python}", "-m", "uvicorn", "src.main:api", "--host", "127.0.0.1", "--port", "{port}"],)],
        ),
        ({"main.py": FASTAPI + "uvicorn.run(api)"}, PYTHON, ("{python}", "main.py")),
    ],
)
def test_files_decide_kind_and_start(plan, files, kind, start):
    found = plan(files)

    words = tuple(start[0]) if start and isinstance(start[0], list) else start
    assert (found.kind, found.start) == (kind, words)


@pytest.mark.parametrize("table", ["dependencies", "devDependencies"])
def test_vite_project_is_installed_built_and_previewed(plan, table):
    found = plan({"package.json": {"scripts": {"build": "tsc && vite build"}, table: {"vite": "^5"}}})

    assert found.kind is VITE
    assert found.install is None
    assert found.builds == (("{npm}", "run", "build"),)
    assert found.start[-2:] == ("{port}", "--strictPort")


def test_vite_project_without_a_build_script_is_built_by_vite_itself(plan):
    found = plan({"package.json": {"dependencies": {"vite": "^5"}}, "vite.config.ts": ""})

    assert found.builds == (("node_modules/.bin/vite", "build"),)


def test_node_server_without_dependencies_is_not_installed(plan):
    assert plan({"package.json": {"scripts": {"start": "node x"}}}).install == ()
    assert plan({"package.json": {"scripts": {"start": "x"}, "dependencies": {"a": "1"}}}).install is None


def test_requirements_decide_whether_python_packages_are_installed(plan):
    assert plan({"app.py": FLASK}).install == ()
    assert plan({"app.py": FLASK, "requirements.txt": "flask"}).install is None


def test_single_page_under_another_name_is_the_first_page(plan):
    assert plan({"shop.html": ""}).index == "shop.html"


def test_wish_of_the_task_goes_before_the_files(plan):
    found = plan(
        {"index.html": "", "package.json": {"scripts": {"start": "node x"}}},
        kind="static",
        spa=True,
        health="/shop",
        start_timeout=5,
    )

    assert (found.kind, found.start, found.fallback) == (STATIC, (), "index.html")
    assert (found.health, found.start_timeout) == ("/shop", 5)


def test_parts_of_the_plan_can_be_wished_alone(plan):
    found = plan(
        {"package.json": {"scripts": {"build": "x", "start": "y"}, "dependencies": {"a": "1"}}},
        install="npm ci --ignore-scripts",
        build="",
        start=["node", "own server.js"],
    )

    assert found.install == ("npm", "ci", "--ignore-scripts")
    assert found.builds == ()
    assert found.start == ("node", "own server.js")


@pytest.mark.parametrize(
    "files", [{}, {"readme.txt": ""}, {"a.html": "", "b.html": ""}, {"package.json": {"name": "empty"}}]
)
def test_nothing_to_start_is_said_in_words(plan, files):
    with pytest.raises(NotRecognised, match="No entry point was found"):
        plan(files)


@pytest.mark.parametrize("content", ["{", "[]", "", "[" * 100_000])
def test_unreadable_package_file_is_named(plan, content):
    with pytest.raises(NotRecognised, match=r"package\.json cannot be read"):
        plan({"package.json": content})


def test_a_pack_may_name_every_kind_that_can_be_deployed():
    assert list(pack_rules.KINDS) == [kind.value for kind in DeploymentKind]
