"""How quickly pages answer while two runs are judged on the same machine, beside an idle site.

Run it with `make bench`, or: python -m performance.pages_while_running [SECONDS]
"""

from __future__ import annotations

import os
import re
import statistics
import sys
import tempfile
import time
from pathlib import Path

import httpx

from benchmark.protocols import samples
from tests.whole.bench import Bench

LIMIT_MS = 200


def main(most_seconds: float) -> int:
    """Measure and print; 0 when the median while two runs are at work is below the limit."""
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(data=Path(folder) / "data")
        bench.data.mkdir()
        bench.command("demo", "--prepare")
        address = bench.serve()
        try:
            return _measured(bench, address, most_seconds)
        finally:
            bench.stop()


def _measured(bench: Bench, address: str, most_seconds: float) -> int:
    client = _signed_in(address, (bench.data / "demo_password").read_text().strip())
    name = samples()[0].name
    runs = [
        bench.json("launch", name, "--agent", "replay", "--workspaces", candidate)["run"]
        for candidate in ("recorded", "rival")
    ]
    pages = ["/", "/benchmarks/", "/runs/", f"/runs/{runs[0]}/", "/results/?benchmark=1"]
    while not any(trial["rounds"] for trial in bench.json("show", str(runs[0]))["trials"]):
        time.sleep(0.5)
    busy: list[float] = []
    began = time.monotonic()
    states = ["running"]
    while time.monotonic() - began < most_seconds and set(states) & {"queued", "running"}:
        busy += [_milliseconds(client, page) for page in pages]
        if len(busy) % 50 == 0:
            states = [bench.json("show", str(run))["state"] for run in runs]
        time.sleep(0.2)
    while set(states) & {"queued", "running"}:
        states = [bench.json("show", str(run))["state"] for run in runs]
        time.sleep(1)
    took = time.monotonic() - began
    idle = [_milliseconds(client, page) for page in pages for _ in range(10)]
    median, calm = statistics.median(busy), statistics.median(idle)
    print(f"cores: {os.cpu_count()}; both runs: {', '.join(states)} after {took:.0f} s")
    print(f"idle: median {calm:.0f} ms of {len(idle)} answers")
    print(
        f"two runs at work: median {median:.0f} ms of {len(busy)} answers, "
        f"95% below {statistics.quantiles(busy, n=20)[-1]:.0f} ms, {median / calm:.1f} times idle"
    )
    return 0 if median < LIMIT_MS and states == ["finished", "finished"] else 1


def _signed_in(address: str, password: str) -> httpx.Client:
    """A client that sends the session by hand: a cookie jar keeps Secure cookies from plain http."""
    host = address.removeprefix("http://")
    port = host.rpartition(":")[2]
    client = httpx.Client(base_url=f"http://127.0.0.1:{port}", headers={"Host": host}, timeout=30)
    form = client.get("/sign-in/")
    token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', form.text)
    assert token is not None
    answer = client.post(
        "/sign-in/",
        data={"username": "lead", "password": password, "csrfmiddlewaretoken": token[1]},
        headers={"Cookie": _cookies(form), "Origin": address},
    )
    assert answer.status_code == 302, answer.text
    client.headers["Cookie"] = _cookies(answer)
    return client


def _cookies(answer: httpx.Response) -> str:
    return "; ".join(line.partition(";")[0] for line in answer.headers.get_list("set-cookie"))


def _milliseconds(client: httpx.Client, page: str) -> float:
    began = time.perf_counter()
    answer = client.get(page)
    assert answer.status_code == 200, (page, answer.status_code)
    return 1000 * (time.perf_counter() - began)


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]) if len(sys.argv) > 1 else 600))
