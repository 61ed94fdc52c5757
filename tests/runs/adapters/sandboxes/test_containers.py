"""The command lines of docker and podman; behind them an engine where one answers, else skipped with the reason."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from runs.adapters.sandboxes import Box, Ending, EndReport, Limits, Stream, held_commands
from runs.adapters.sandboxes import containers_lines as lines
from runs.adapters.sandboxes.bubblewrap import find_bubblewrap
from runs.adapters.sandboxes.container import ContainerSandbox, remove_left_over
from runs.errors import StageError
from runs.isolation import SandboxLevel
from runs.sandbox_looks import engine_look

IMAGE = os.environ.get("PROOFROOM_SANDBOX_IMAGE", "docker.io/library/node:22-bookworm")
GIB = 1 << 30


def order(box: Box, **changed) -> lines.Order:
    given = {
        "program": "/usr/bin/docker",
        "name": "proofroom-1",
        "owner": "abcd1234.77",
        "image": "node:22",
        "box": box,
        "programs": (Path("/srv/inside.py"), Path("/srv/containers_entry.py")),
        "sockets": Path("/run/pr-1"),
        "user": 1000,
        "group": 1000,
    }
    return lines.Order(**{**given, **changed})


def options(words: list[str]) -> list[tuple[str, str]]:
    """Each option with the word behind it."""
    return [pair for pair in pairwise(words) if pair[0].startswith("--")]


def test_a_container_has_no_network_no_capability_and_nothing_to_write_but_its_box():
    words = lines.run_line(order(Box(workspace=Path("/w/app"), read_only=(Path("/usr/share"),))))

    given = options(words)
    assert ("--network", "none") in given
    assert ("--cap-drop", "ALL") in given
    assert ("--security-opt", "no-new-privileges") in given
    assert "--read-only" in words
    assert ("--pull", "never") in given
    mounts = [value for option, value in given if option == "--mount"]
    writable = [mount for mount in mounts if not mount.endswith(",readonly")]
    assert writable == ["type=bind,source=/w/app,target=/w/app"]
    assert "type=bind,source=/usr/share,target=/usr/share,readonly" in mounts


def test_nothing_that_would_open_a_container_is_ever_asked_for():
    words = lines.run_line(order(Box(workspace=Path("/w/app")), is_interactive=True, keeps_user=True))

    forbidden = ("--privileged", "--cap-add", "--device", "--pid", "--publish", "-p", "--env", "-e", "host")
    assert not [word for word in words if word in forbidden or "docker.sock" in word]


def test_limits_of_a_box_are_those_of_its_container_and_forbid_swap():
    limits = Limits(memory_bytes=GIB, processes=64, file_bytes=1000, cpu_seconds=10)

    given = options(lines.run_line(order(Box(workspace=Path("/w"), limits=limits))))

    assert ("--memory", str(GIB)) in given
    assert ("--memory-swap", str(GIB)) in given
    assert ("--pids-limit", "64") in given
    assert ("--ulimit", "fsize=1000:1000") in given
    assert ("--ulimit", "cpu=11:11") in given


def test_outer_folders_are_mounted_before_inner_ones():
    box = Box(workspace=Path("/w/app/inner"), read_only=(Path("/usr"),), writable=(Path("/w"),))

    mounts = [value for option, value in options(lines.run_line(order(box))) if option == "--mount"]

    targets = [mount.split("target=")[1].split(",")[0] for mount in mounts]
    assert targets[-3:] == ["/usr", "/w", "/w/app/inner"]


@pytest.mark.parametrize(
    ("folder", "field"),
    [("/w/a,readonly=false", '"source=/w/a,readonly=false"'), ('/w/a"b', '"source=/w/a""b"')],
)
def test_a_folder_s_name_is_never_an_option_of_its_mount(folder, field):
    mounts = [
        value
        for option, value in options(lines.run_line(order(Box(workspace=Path(folder)))))
        if option == "--mount"
    ]

    assert field in mounts[-1]


def test_the_image_ends_the_options_and_the_command_is_never_in_the_line():
    words = lines.run_line(order(Box(workspace=Path("/w"))))

    assert words[words.index("--entrypoint") : words.index("--entrypoint") + 3] == [
        "--entrypoint",
        "python3",
        "node:22",
    ]
    assert words[-2:] == ["/proofroom/programs/containers_entry.py", "/proofroom/sockets/control"]


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["/srv/py/bin/python3.13", "-I", "/w/app/server.py"], ("python3", "-I", "/w/app/server.py")),
        (["/srv/node/bin/node", "/srv/lib/npm-cli.js", "ci"], ("npm", "ci")),
        (["/srv/node/bin/node", "/w/app/server.js"], ("node", "/w/app/server.js")),
        (["/w/app/venv/bin/python", "app.py"], ("/w/app/venv/bin/python", "app.py")),
        (["npm", "run", "build"], ("npm", "run", "build")),
    ],
)
def test_programs_of_this_machine_are_named_as_the_image_has_them(argv, expected):
    translated = lines.in_image(argv, seen=[Path("/w")])

    assert (translated.argv, translated.brought) == (expected, ())


def test_a_program_that_no_image_has_is_brought_along():
    translated = lines.in_image(["/srv/uv", "venv", "--python", "/srv/py/bin/python3.13"], seen=[Path("/w")])

    assert translated.argv == ("/srv/uv", "venv", "--python", "python3")
    assert translated.brought == (Path("/srv/uv"),)


def test_the_search_path_holds_what_is_read_inside_and_then_the_image_s_own():
    path = lines.path_inside("/srv/node/bin:/srv/mine:/w/app/bin:", read_only=[Path("/srv/node")])

    assert path == "/srv/node/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def test_only_containers_of_this_machine_whose_bench_is_gone_are_left_over():
    listing = "a here.10\nb here.11\nc there.10\nd here.x\ne\n\n"

    assert lines.left_over(listing, machine="here", living=[11]) == ["a"]


def test_a_state_is_read_from_what_inspect_answers():
    answer = '{"Status":"exited","Running":false,"OOMKilled":true,"Pid":0,"ExitCode":137}'

    assert lines.State.read(answer) == lines.State(
        is_running=False, pid=0, exit_code=137, is_out_of_memory=True
    )
    assert lines.State.read("") is None
    assert lines.State.read("[]") is None


@pytest.mark.parametrize("name", ["docker", "podman"])
def test_the_options_are_known_to_the_client_that_is_here(name):
    program = shutil.which(name)
    if program is None:
        pytest.skip(f"There is no {name} client here.")
    known = subprocess.run([program, "run", "--help"], capture_output=True, text=True, check=True).stdout

    words = lines.run_line(order(Box(workspace=Path("/w"), limits=Limits(memory_bytes=GIB, processes=9))))

    assert [word for word in words if word.startswith("--") and f"{word} " not in known] == []


def test_a_silent_engine_is_trouble_of_the_bench_and_leaves_nothing(tmp_path, monkeypatch):
    seen = engine_look(SandboxLevel.DOCKER, shutil.which("docker"), image=IMAGE)
    if shutil.which("docker") is None or seen.works or "does not answer" not in seen.seen:
        pytest.skip("This takes a docker client whose engine does not answer.")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    with pytest.raises(StageError, match=r"container could not be started: .*docker"):
        ContainerSandbox(name="docker", image=IMAGE).start(["true"], cwd=tmp_path, env={})

    assert held_commands() == 0
    assert list(tmp_path.iterdir()) == []


def test_the_first_process_starts_the_command_and_hands_out_a_socket_of_its_own_network(tmp_path):
    # Namespaces of bubblewrap, not an engine: what is shown is the way through the socket alone.
    bubblewrap = find_bubblewrap()
    if isinstance(bubblewrap, str):
        pytest.skip(bubblewrap)
    programs = Path(lines.__file__).parent
    walls = [str(bubblewrap), "--unshare-all", "--as-pid-1", "--die-with-parent", "--ro-bind", "/", "/"]
    walls += ["--dev", "/dev", "--proc", "/proc", "--bind", str(tmp_path), str(tmp_path), "--"]
    entry = [sys.executable, "-I", "-S", str(programs / "containers_entry.py"), str(tmp_path / "control")]
    order = {"argv": ["/bin/sh", "-c", "read line; exit 7"], "cwd": "/", "env": {}, "grace": 1.0}
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(str(tmp_path / "control"))
        door.listen(1)
        door.settimeout(30)
        with subprocess.Popen(walls + entry, stdin=subprocess.PIPE) as started:
            control, _address = door.accept()
            with control:
                control.settimeout(30)
                control.sendall(json.dumps({**order, "doors": [], "processes": None}).encode() + b"\n")
                begun = [json.loads(line) for line in _lines(control, 2)]
                control.sendall(b'{"socket": 4}\n')
                answer, handed, _flags, _from = socket.recv_fds(control, 4096, 1)
                started.communicate(b"go on\n", timeout=30)

    assert begun == [{"here": True}, {"started": True, "closed": []}]
    assert json.loads(answer) == {"socket": True}
    assert len(handed) == 1
    os.close(handed[0])
    assert started.returncode == 7


def _lines(control: socket.socket, most: int) -> list[bytes]:
    heard = b""
    while heard.count(b"\n") < most:
        heard += control.recv(4096)
    return heard.splitlines()


@pytest.fixture(params=["docker", "podman"])
def engine(request) -> ContainerSandbox:
    """A real engine with its image; nothing stands in for one."""
    seen = engine_look(SandboxLevel(request.param), shutil.which(request.param), image=IMAGE)
    if not seen.works:
        pytest.skip(f"Isolation by {request.param} is not shown here: {seen.seen}.")
    return ContainerSandbox(name=request.param, image=IMAGE)


def _run(engine: ContainerSandbox, place: Path, code: str, **box: Any) -> tuple[str, EndReport]:
    command = engine.start(
        [sys.executable, "-c", code],
        cwd=place,
        env={"PATH": os.defpath, "HOME": str(place)},
        stderr=Stream.WITH_STDOUT,
        deadline_seconds=60,
        box=Box(workspace=place, **box),
    )
    with command:
        assert command.stdout is not None
        text = command.stdout.read().decode()
        return text, command.wait(60)


def test_inside_a_container_nothing_of_this_machine_is_seen(engine, tmp_path):
    secret = tmp_path.parent / "secret"
    secret.write_text("x")

    said, report = _run(
        engine,
        tmp_path,
        "import os, socket\n"
        f"print(os.path.exists({str(secret)!r}), len([p for p in os.listdir('/proc') if p.isdigit()]) < 5)\n"
        "try: socket.create_connection(('1.1.1.1', 53), 2); print('out')\n"
        "except OSError: print('in')\n"
        "try: open('/written', 'w'); print('writes')\n"
        "except OSError: print('reads')\n"
        "open('kept', 'w').write('kept')\n",
    )

    assert said.split() == ["False", "True", "in", "reads"]
    assert (report.exit_code, report.survivors) == (0, 0)
    assert (tmp_path / "kept").read_text() == "kept"


def test_a_container_that_fills_its_memory_is_told_apart(engine, tmp_path):
    _said, report = _run(
        engine,
        tmp_path,
        "import os\nkept = []\nwhile True: kept.append(os.urandom(1 << 20))\n",
        limits=Limits(memory_bytes=128 << 20),
    )

    assert report.ending is Ending.LIMIT
    assert [hit.kind.value for hit in report.limits_hit] == ["memory"]
    assert not report.machine_out_of_memory


def test_an_ended_container_is_gone_with_all_that_it_started(engine, tmp_path):
    command = engine.start(
        ["/bin/sh", "-c", "trap '' TERM; sleep 600 & sleep 600"], cwd=tmp_path, env={"PATH": os.defpath}
    )

    report = command.end(grace=0.5)

    listed = subprocess.run(
        lines.list_line(shutil.which(engine.name) or ""), capture_output=True, text=True, check=True
    ).stdout
    assert report.survivors == 0
    assert lines.owner_of(os.getpid()) not in listed
    assert remove_left_over(shutil.which(engine.name) or "") == 0
