"""Decide from the files, or from the task's wish, how a candidate is installed, built and started."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from runs.adapters.deployers.plans import NPM, PORT, PYTHON, Plan, Wish
from runs.ports import DeploymentKind

_PYTHON_FILES = (
    "app.py",
    "server.py",
    "main.py",
    "run.py",
    "wsgi.py",
    "src/app.py",
    "src/main.py",
    "app/main.py",
)
_NODE_FILES = (
    "server.js",
    "app.js",
    "index.js",
    "main.js",
    "server.mjs",
    "index.mjs",
    "server.cjs",
    "src/server.js",
    "src/index.js",
)
_STATIC_FOLDERS = ("", "public", "dist", "build", "site", "www", "src", "static", "docs")
_VITE_CONFIGS = ("vite.config.js", "vite.config.ts", "vite.config.mjs", "vite.config.mts", "vite.config.cjs")
_SERVER_SIGNS = (
    *("Flask(", "FastAPI(", "Starlette(", "create_app(", "http.server", "HTTPServer", "serve_forever"),
    *("uvicorn", "aiohttp", "bottle", "tornado"),
)
_ASGI_APP = re.compile(r"^(\w+)\s*(?::\s*\w+\s*)?=\s*(?:fastapi\.)?(?:FastAPI|Starlette)\(", re.MULTILINE)
_FLASK_APP = re.compile(r"^(\w+)\s*(?::\s*\w+\s*)?=\s*(?:flask\.)?Flask\(", re.MULTILINE)
_VITE = "node_modules/.bin/vite"
_READ_BYTES = 200_000


class NotRecognised(Exception):
    """There is no way to start this candidate; the message says what was looked for."""


def plan_for(folder: Path, deploy: Mapping[str, Any]) -> Plan:
    """Return the plan; raises NotRecognised (the candidate's fault) or StageError (the task's)."""
    wish = Wish.read(deploy)
    kind = wish.kind or _kind_of(folder)
    match kind:
        case DeploymentKind.STATIC:
            plan = _static(folder, wish)
        case DeploymentKind.VITE:
            plan = _vite(folder)
        case DeploymentKind.NODE:
            plan = _node(folder, start=wish.start)
        case DeploymentKind.PYTHON:
            plan = _python(folder, start=wish.start)
        case None:
            if not wish.start:
                raise NotRecognised(
                    "No entry point was found: neither an index.html, nor a package.json with a start "
                    "script, nor a server.js, nor an app.py, server.py or main.py."
                )
            plan = Plan(
                kind=DeploymentKind.NODE if (folder / "package.json").is_file() else DeploymentKind.PYTHON
            )
    return wish.applied_to(plan)


def _kind_of(folder: Path) -> DeploymentKind | None:
    package = _package(folder)
    if package is not None:
        if _uses_vite(folder, package):
            return DeploymentKind.VITE
        if _node_start(folder, package) or "build" in _table(package, "scripts"):
            return DeploymentKind.NODE
    elif any("listen(" in _content(folder / name) for name in _NODE_FILES):
        return DeploymentKind.NODE
    # An application with a server beside its pages is meant to be run by the server.
    if (folder / "manage.py").is_file() or any(_serves(_content(folder / name)) for name in _PYTHON_FILES):
        return DeploymentKind.PYTHON
    if _static_root(folder) is not None:
        return DeploymentKind.STATIC
    if any((folder / name).is_file() for name in _PYTHON_FILES):
        return DeploymentKind.PYTHON
    return None


def _static(folder: Path, wish: Wish) -> Plan:
    if wish.root:
        if not (folder / wish.root).is_dir() and not wish.build:
            raise NotRecognised(f"There is no folder {wish.root!r} to serve.")
        return Plan(kind=DeploymentKind.STATIC, root=wish.root)
    root = _static_root(folder)
    if root is None:
        raise NotRecognised("There is no index.html to serve.")
    pages = sorted(path.name for path in (folder / root).glob("*.html"))
    index = "index.html" if "index.html" in pages else pages[0]
    return Plan(kind=DeploymentKind.STATIC, root=root, index=index)


def _static_root(folder: Path) -> str | None:
    for name in _STATIC_FOLDERS:
        if (folder / name / "index.html").is_file():
            return name
    # A single page under another name can only be meant as the first page.
    return "" if len(list(folder.glob("*.html"))) == 1 else None


def _vite(folder: Path) -> Plan:
    package = _package(folder)
    if package is None:
        raise NotRecognised("There is no package.json, so Vite cannot be installed.")
    has_script = "build" in _table(package, "scripts")
    return Plan(
        kind=DeploymentKind.VITE,
        install=None,
        builds=((NPM, "run", "build") if has_script else (_VITE, "build"),),
        start=(
            *(_VITE, "preview"),
            *("--host", "127.0.0.1", "--port", PORT, "--strictPort"),
        ),
    )


def _node(folder: Path, *, start: tuple[str, ...]) -> Plan:
    package = _package(folder)
    found = start or _node_start(folder, package or {})
    if not found:
        raise NotRecognised(
            "No entry point was found: package.json has no start script and no main file, "
            "and there is no server.js, app.js or index.js."
        )
    wanted = ("dependencies", "devDependencies", "optionalDependencies")
    needs_install = package is not None and any(_table(package, table) for table in wanted)
    has_build = package is not None and "build" in _table(package, "scripts")
    return Plan(
        kind=DeploymentKind.NODE,
        install=None if needs_install else (),
        builds=((NPM, "run", "build"),) if has_build else (),
        start=found,
    )


def _node_start(folder: Path, package: Mapping[str, Any]) -> tuple[str, ...]:
    scripts = _table(package, "scripts")
    if "start" in scripts:
        return (NPM, "start")
    main = package.get("main")
    for name in [main] if isinstance(main, str) else []:
        if (folder / name).is_file():
            return ("node", name)
    for name in _NODE_FILES:
        if (folder / name).is_file() and (package or "listen(" in _content(folder / name)):
            return ("node", name)
    for name in ("serve", "dev", "preview"):
        if name in scripts:
            return (NPM, "run", name)
    return ()


def _python(folder: Path, *, start: tuple[str, ...]) -> Plan:
    install = None if (folder / "requirements.txt").is_file() else ()
    if start:
        return Plan(kind=DeploymentKind.PYTHON, install=install)
    if (folder / "manage.py").is_file():
        return Plan(
            kind=DeploymentKind.PYTHON,
            install=install,
            builds=((PYTHON, "manage.py", "migrate", "--noinput"),),
            start=(PYTHON, "manage.py", "runserver", f"127.0.0.1:{PORT}", "--noreload"),
        )
    present = [name for name in _PYTHON_FILES if (folder / name).is_file()]
    if not present:
        raise NotRecognised("No entry point was found: there is no app.py, server.py or main.py.")
    name = next((name for name in present if _serves(_content(folder / name))), present[0])
    return Plan(
        kind=DeploymentKind.PYTHON, install=install, start=_python_start(name, _content(folder / name))
    )


def _python_start(name: str, source: str) -> tuple[str, ...]:
    module = name.removesuffix(".py").replace("/", ".")
    asgi = _ASGI_APP.search(source)
    if asgi and "uvicorn.run(" not in source:
        return (PYTHON, "-m", "uvicorn", f"{module}:{asgi[1]}", "--host", "127.0.0.1", "--port", PORT)
    flask = _FLASK_APP.search(source)
    if (flask or "def create_app(" in source) and ".run(" not in source and "serve(" not in source:
        target = f"{module}:{flask[1]}" if flask else module
        return (PYTHON, "-m", "flask", "--app", target, "run", "--host", "127.0.0.1", "--port", PORT)
    return (PYTHON, name)


def _serves(source: str) -> bool:
    return any(sign in source for sign in _SERVER_SIGNS)


def _package(folder: Path) -> Mapping[str, Any] | None:
    """Return package.json, None where there is none; raises NotRecognised for an unreadable one."""
    path = folder / "package.json"
    if not path.is_file():
        return None
    try:
        found = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        raise NotRecognised(f"package.json cannot be read: {error}.") from None
    if not isinstance(found, dict):
        raise NotRecognised("package.json cannot be read: it holds no JSON object.")
    return found


def _uses_vite(folder: Path, package: Mapping[str, Any]) -> bool:
    named = any("vite" in _table(package, table) for table in ("dependencies", "devDependencies"))
    if not named and not any((folder / name).is_file() for name in _VITE_CONFIGS):
        return False
    # A server of its own (Express with Vite as its middleware, say) is what the author wants started.
    start = _table(package, "scripts").get("start")
    return not isinstance(start, str) or "vite" in start or _mentions(start, ("serve ", "http-server"))


def _mentions(text: str, words: Iterable[str]) -> bool:
    return any(word in text for word in words)


def _table(package: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = package.get(name)
    return found if isinstance(found, dict) else {}


def _content(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(_READ_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""
