"""A whole Chromium whose dialogs are its own: spoken to without Playwright, which would answer them."""

from __future__ import annotations

import http.client
import json
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from websockets.sync.client import ClientConnection, connect

from runs.adapters.browsers import chromium_arguments, running_as_root

PROGRAM = Path("/usr/lib/chromium/chromium")
_PATIENCE = 60.0


class Window:
    """One page of that browser."""

    def __init__(self, line: ClientConnection) -> None:
        self._line = line
        self._number = 0

    def call(self, method: str, **values: Any) -> Any:
        """Send one command of the DevTools protocol and return its answer."""
        self._number += 1
        self._line.send(json.dumps({"id": self._number, "method": method, "params": values}))
        while True:
            answer = json.loads(self._line.recv(timeout=_PATIENCE))
            if answer.get("id") == self._number:
                return answer.get("result")

    def value(self, script: str) -> Any:
        """What a script of the page comes to."""
        return self.call("Runtime.evaluate", expression=script, returnByValue=True)["result"].get("value")

    def until(self, script: str) -> None:
        """Wait until a script is true."""
        deadline = time.monotonic() + _PATIENCE
        while self.value(script) is not True:
            assert time.monotonic() < deadline, f"It never was: {script}"
            time.sleep(0.2)

    def click(self, selector: str) -> None:
        """Press the mouse where an element is, as a person does."""
        place = self.value(
            f"(() => {{ const box = document.querySelector({json.dumps(selector)}).getBoundingClientRect();"
            " return [box.x + box.width / 2, box.y + box.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call(
                "Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button="left", clickCount=1
            )


@contextmanager
def window(folder: Path, *, address: str, cookies: dict[str, str]) -> Iterator[Window]:
    """Open a browser of its own, signed in; it ends with the context."""
    program = subprocess.Popen(
        [
            str(PROGRAM), "--headless=new", "--window-size=1440,900", *chromium_arguments(is_root=running_as_root()),
            f"--user-data-dir={folder}", "--remote-debugging-port=0", "about:blank",
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        with connect(_page(folder / "DevToolsActivePort"), max_size=None) as line:
            opened = Window(line)
            for name, value in cookies.items():
                opened.call(
                    "Network.setCookie", name=name, value=value, url=f"{address}/", path="/", secure=True
                )
            opened.call("Page.bringToFront")
            yield opened
    finally:
        program.kill()
        program.wait(20)


def signed_in(address: str, *, username: str, password: str) -> dict[str, str]:
    """The cookies of somebody who fills the form."""
    page, cookies = _ask(address, "GET", {})
    token = re.search(r'csrfmiddlewaretoken" value="([^"]+)', page)
    assert token is not None
    form = {"csrfmiddlewaretoken": token[1], "username": username, "password": password}
    return _ask(address, "POST", cookies, urlencode(form))[1]


def _ask(address: str, method: str, cookies: dict[str, str], body: str = "") -> tuple[str, dict[str, str]]:
    host = address.removeprefix("http://")
    line = http.client.HTTPConnection("127.0.0.1", int(host.rpartition(":")[2]), timeout=_PATIENCE)
    headers = {
        "Host": host,
        "Cookie": "; ".join(f"{name}={value}" for name, value in cookies.items()),
        "Content-Type": "application/x-www-form-urlencoded",
    }
    line.request(method, "/sign-in/", body=body, headers=headers)
    answer = line.getresponse()
    page = answer.read().decode()
    set_ = [
        value.split(";")[0].split("=", 1)
        for name, value in answer.getheaders()
        if name.lower() == "set-cookie"
    ]
    line.close()
    return page, dict(set_)


def _page(told: Path) -> str:
    deadline = time.monotonic() + _PATIENCE
    while not told.is_file() or len(told.read_text().splitlines()) < 2:
        assert time.monotonic() < deadline, "Chromium did not say where it listens."
        time.sleep(0.1)
    port = int(told.read_text().splitlines()[0])
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=_PATIENCE)
    line.request("GET", "/json")
    pages: list[dict[str, str]] = json.loads(line.getresponse().read())
    line.close()
    return next(page["webSocketDebuggerUrl"] for page in pages if page["type"] == "page")
