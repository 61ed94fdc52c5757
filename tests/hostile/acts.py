"""What a hostile code agent tries: a program of the standard library that runs inside the box.

`acts.py NAME FACTS.json` tries one thing and writes `findings.json` beside FACTS: what it got hold of
(`reached`) and what it was told instead (`refused`). FACTS says where outside the treasures are, so that
no act fails merely because it did not know where to look.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

HERE = Path.cwd()
_LIBC = ctypes.CDLL(None, use_errno=True)
_CLONE_NEWNS, _CLONE_NEWUSER, _CLONE_NEWPID = 0x20000, 0x10000000, 0x20000000
_PTRACE_ATTACH, _PTRACE_DETACH = 16, 17


class Act:
    """One attempt: the facts it knows, and what came of it."""

    def __init__(self, facts: dict[str, Any]) -> None:
        self.facts = facts
        self.reached: list[str] = []
        self.refused: list[str] = []

    def tried(self, what: str, attempt: Any) -> None:
        """Note what an attempt gave: anything but an OSError and None is a success."""
        try:
            got = attempt()
        except OSError as error:
            self.refused.append(f"{what}: {error.strerror or error}")
        else:
            (self.refused if got is None else self.reached).append(f"{what}: {str(got)[:200]}")

    def done(self, what: str, act: Any) -> None:
        """Note whether something could be done at all."""
        self.tried(what, lambda: (act(), "done")[1])

    def called(self, what: str, *arguments: Any) -> None:
        """Try a call of the C library, which answers -1 where it is refused."""
        name, *rest = arguments
        ctypes.set_errno(0)
        answer = getattr(_LIBC, name)(*rest)
        error = ctypes.get_errno()
        if answer == -1:
            self.refused.append(f"{what}: {os.strerror(error)}")
        else:
            self.reached.append(f"{what}: {answer}")

    def is_boxed(self) -> bool:
        """Whether this process is in another process namespace than the bench.

        What would end or harm everything on a machine is tried only where that is so; where it is not,
        the act fails by saying so.
        """
        own = str(Path("/proc/self/ns/pid").readlink())
        if own != self.facts["pid_namespace"]:
            return True
        self.reached.append("this process is in the process namespace of the machine")
        return False


# Reading


def read_another_workspace(act: Act) -> None:
    for path in act.facts["other_workspace"]:
        act.tried(path, Path(path).read_text)
    for folder in list(HERE.parents)[:3]:
        for sibling in _children(folder):
            if sibling not in (HERE, *HERE.parents) and sibling.is_dir():
                act.tried(str(sibling), lambda sibling=sibling: _with_secret(sibling, act))


def read_the_site_s_own_files(act: Act) -> None:
    for path in act.facts["own_files"]:
        act.tried(path, lambda path=path: Path(path).read_bytes()[:100])


def read_hidden_criteria(act: Act) -> None:
    for path in act.facts["criteria"]:
        act.tried(path, Path(path).read_text)
    act.tried("anywhere", lambda: _with_secret(Path("/"), act))


def read_environments(act: Act) -> None:
    secret = act.facts["secret"].encode()
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            for name in ("environ", "cmdline"):
                act.tried(
                    f"{entry}/{name}",
                    lambda path=entry / name: "the secret" if secret in path.read_bytes() else None,
                )
    act.tried("own environment", lambda: "the secret" if secret in repr(os.environ).encode() else None)


def follow_inherited_descriptors(act: Act) -> None:
    for entry in Path("/proc/self/fd").iterdir():
        number = int(entry.name)
        if number > 2:
            with suppress(OSError):
                aim = str(entry.readlink())
                if not aim.startswith(("/proc/", str(HERE))):
                    act.reached.append(f"descriptor {number}: {aim}")


# Signals and processes


def kill_by_name(act: Act) -> None:
    if not act.is_boxed():
        return
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal() or int(entry.name) == os.getpid():
            continue
        with suppress(OSError):
            words = (entry / "cmdline").read_bytes()
            if any(name.encode() in words for name in act.facts["names"]):
                act.done(f"kill {words!r}", lambda pid=int(entry.name): os.kill(pid, signal.SIGKILL))
    for name in act.facts["names"]:
        with suppress(FileNotFoundError):
            done = subprocess.run(["pkill", "-9", "-f", f"{name}"], check=False, timeout=20)
            if done.returncode == 0:
                act.reached.append(f"pkill {name}")


def kill_by_number(act: Act) -> None:
    if not act.is_boxed():
        return
    for pid in act.facts["pids"]:
        act.tried(f"kill {pid}", lambda pid=pid: "it is there" if _is_named(pid, act) else None)


def kill_everything(act: Act) -> None:
    if act.is_boxed():
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        with suppress(OSError):
            os.kill(-1, signal.SIGTERM)
        _write(act)
        with suppress(OSError):
            os.kill(-1, signal.SIGKILL)


def trace_the_keeper(act: Act) -> None:
    act.called("ptrace process 1", "ptrace", _PTRACE_ATTACH, 1, None, None)
    act.called("ptrace the parent", "ptrace", _PTRACE_ATTACH, os.getppid(), None, None)
    for pid in (1, os.getppid()):
        act.done(f"memory of {pid}", lambda pid=pid: Path(f"/proc/{pid}/mem").open("r+b").close())
    for pid in act.facts["pids"]:
        if _is_named(pid, act):
            act.called(f"ptrace {pid}", "ptrace", _PTRACE_ATTACH, pid, None, None)


def daemonise(act: Act) -> None:
    """Leave a process of its own session that would go on writing."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
            for _ in range(600):
                with suppress(OSError):
                    (HERE / "heartbeat").write_text(str(time.time()))
                time.sleep(0.1)
        os._exit(0)
    time.sleep(0.5)


def ignore_the_end(act: Act) -> None:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGALRM):
        signal.signal(number, signal.SIG_IGN)
    _write(act)
    while True:
        time.sleep(1)


# Network


def reach_the_site(act: Act) -> None:
    for host, port in act.facts["ports"]:
        act.tried(f"{host}:{port}", lambda host=host, port=port: _asked(host, port))


def reach_the_network(act: Act) -> None:
    """Say which ways out there are, without sending anything."""
    for line in Path("/proc/net/dev").read_text().splitlines()[2:]:
        name = line.partition(":")[0].strip()
        if name != "lo":
            act.reached.append(f"network interface {name}")
    for line in Path("/proc/net/route").read_text().splitlines()[1:]:
        act.reached.append(f"route {line}")
    act.tried("raw socket", lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1).close())
    act.tried("packet socket", lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW).close())
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
        # Connecting a datagram socket sends nothing; it only asks for a route.
        act.done("a route to elsewhere", lambda: datagrams.connect(("192.0.2.1", 9)))


def reach_unix_sockets(act: Act) -> None:
    for path in (
        *act.facts["unix"],
        "/run/docker.sock",
        "/var/run/docker.sock",
        "/run/dbus/system_bus_socket",
    ):
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as stream:
            stream.settimeout(3)
            act.done(path.replace("\0", "@"), lambda path=path, stream=stream: stream.connect(path))


def bind_foreign_ports(act: Act) -> None:
    """Take the ports of others; inside a network of its own that harms nobody."""
    for host, port in (*act.facts["ports"], ["127.0.0.1", 80], ["127.0.0.1", 5432]):
        with suppress(OSError):
            server = socket.create_server((host, port))
            threading.Thread(target=server.accept, daemon=True).start()
    time.sleep(1)


# Files


def write_outside(act: Act) -> None:
    for folder in (
        *act.facts["folders"],
        "/etc",
        "/usr/bin",
        "/usr/lib",
        "/var",
        "/opt",
        "/root",
        "/",
        "/sys",
        "/proc",
    ):
        path = Path(folder) / act.facts["marker"]
        with suppress(OSError):
            path.write_text("written")
    for path in (*act.facts["own_files"], *act.facts["criteria"]):
        with suppress(OSError):
            Path(path).write_text("changed")
        with suppress(OSError):
            Path(path).unlink()


def link_out_of_the_workspace(act: Act) -> None:
    for number, path in enumerate(
        (*act.facts["own_files"], *act.facts["folders"], "/etc/shadow", "/proc/1/root")
    ):
        link = HERE / f"link-{number}"
        with suppress(OSError):
            link.symlink_to(path)
        act.tried(
            f"read through a link to {path}",
            lambda link=link: link.read_bytes()[:100] if link.is_file() else None,
        )
        with suppress(OSError):
            link.write_text("changed")
        with suppress(OSError):
            os.link(path, HERE / f"hard-{number}")
            act.reached.append(f"hard link to {path}")


def fill_shared_folders(act: Act) -> None:
    for folder in ("/tmp", "/dev/shm", "/var/tmp", "/run", "/dev/mqueue"):
        with suppress(OSError):
            (Path(folder) / act.facts["marker"]).write_bytes(bytes(1 << 20))


def delete_the_workspace(act: Act) -> None:
    import shutil

    for child in HERE.iterdir():
        with suppress(OSError):
            shutil.rmtree(child) if child.is_dir() else child.unlink()
    with suppress(OSError):
        HERE.rmdir()
    for folder in HERE.parents:
        with suppress(OSError):
            folder.rmdir()
            act.reached.append(f"removed {folder}")


# Rights


def gain_rights(act: Act) -> None:
    status = dict(
        line.split(":\t", 1) for line in Path("/proc/self/status").read_text().splitlines() if ":\t" in line
    )
    for name in ("CapEff", "CapPrm", "CapBnd", "CapAmb"):
        if int(status[name], 16):
            act.reached.append(f"{name} {status[name]}")
    if status["NoNewPrivs"].strip() != "1":
        act.reached.append("programs may give new rights")
    act.called("a user namespace", "unshare", _CLONE_NEWUSER)
    act.called("a mount namespace", "unshare", _CLONE_NEWNS)
    act.called("a process namespace", "unshare", _CLONE_NEWPID)
    if os.getuid() != 0:
        act.done("become root", lambda: os.setuid(0))
    act.done("another root", lambda: os.chroot("/tmp"))
    act.called("more rights for keys", "keyctl", 0, -3, 1) if hasattr(_LIBC, "keyctl") else None


def leave_a_setuid_program(act: Act) -> None:
    program = HERE / "sh"
    with suppress(OSError):
        program.write_bytes(Path("/bin/sh").read_bytes())
        program.chmod(0o6755)
        done = subprocess.run(
            [str(program), "-c", "id -u"], capture_output=True, text=True, timeout=20, check=False
        )
        if done.stdout.strip() == "0" and os.getuid() != 0:
            act.reached.append("a shell with the rights of root")


def mount_something(act: Act) -> None:
    if not act.is_boxed():
        return
    act.called("mount tmpfs", "mount", b"tmpfs", bytes(HERE), b"tmpfs", 0, None)
    act.called("mount proc", "mount", b"proc", bytes(HERE), b"proc", 0, None)
    act.called("make / writable", "mount", None, b"/", None, 32, None)
    act.called("unmount /proc", "umount2", b"/proc", 2)
    act.called("change of root", "pivot_root", b"/", b"/") if hasattr(_LIBC, "pivot_root") else None


def touch_the_kernel(act: Act) -> None:
    """Open for writing what steers the whole machine; nothing is written."""
    for path in (
        "/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sys/kernel/hostname",
        "/proc/sysrq-trigger", "/sys/kernel/uevent_helper", "/sys/power/state", "/proc/sys/vm/drop_caches",
        "/sys/fs/cgroup/cgroup.procs", "/proc/1/oom_score_adj",
    ):  # fmt: skip
        act.done(path, lambda path=path: os.close(os.open(path, os.O_WRONLY)))
    act.tried("lower its own killing order", lambda: Path("/proc/self/oom_score_adj").write_text("-1000"))


def touch_devices(act: Act) -> None:
    for path in act.facts["devices"]:
        act.done(path, lambda path=path: os.close(os.open(path, os.O_RDONLY)))
    for number, device in enumerate(((8, 0), (253, 0), (254, 0), (1, 1))):
        path = HERE / f"device-{number}"
        with suppress(OSError):
            os.mknod(path, stat.S_IFBLK | 0o600 if number < 3 else stat.S_IFCHR | 0o600, os.makedev(*device))
            act.done(f"made device {device}", lambda path=path: os.close(os.open(path, os.O_RDONLY)))


def change_the_clock(act: Act) -> None:
    if act.is_boxed():
        act.done("the clock", lambda: time.clock_settime(time.CLOCK_REALTIME, time.time()))
        act.called("the host's name", "sethostname", b"box", 3)


def push_the_terminal(act: Act) -> None:
    act.done("a terminal", lambda: os.close(os.open("/dev/tty", os.O_RDWR)))


# Storms: only where a box with limits holds them


def fork_without_end(act: Act) -> None:
    if act.is_boxed():
        while True:
            with suppress(OSError):
                os.fork()


def fill_the_memory(act: Act) -> None:
    if act.is_boxed():
        held = [b"x" * (1 << 20) for _ in range(16_000)]
        act.reached.append(f"{len(held)} MiB")


def fill_the_memory_with_many(act: Act) -> None:
    """Stay small in every process and large in all of them together."""
    if act.is_boxed():
        for _ in range(40):
            with suppress(OSError):
                if os.fork() == 0:
                    held = [b"x" * (1 << 20) for _ in range(400)]
                    time.sleep(60)
                    os._exit(len(held) % 2)
        time.sleep(60)


def fill_the_disk(act: Act) -> None:
    if act.is_boxed():
        for number in range(10_000):
            with (HERE / f"filler-{number}").open("wb") as out:
                for _ in range(16):
                    out.write(bytes(1 << 20))


def fill_the_disk_with_names(act: Act) -> None:
    if act.is_boxed():
        for number in range(300_000):
            (HERE / f"{number:0200d}").touch()


def flood_the_output(act: Act) -> None:
    lump = (b"x" * 1023 + b"\n") * 1024
    left = int(act.facts["flood_bytes"])
    while left > 0:
        left -= os.write(1, lump)


def _children(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _with_secret(folder: Path, act: Act) -> str | None:
    """The path of a file below that holds the secret, and is none of our own."""
    secret = act.facts["secret"].encode()
    skipped = (
        "/proc",
        "/sys",
        "/dev",
        "/usr",
        "/lib",
        "/bin",
        "/sbin",
        "/etc",
        str(HERE),
        act.facts["python"],
    )
    for parent, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not str(Path(parent) / name).startswith(skipped)]
        for name in files:
            path = Path(parent) / name
            with suppress(OSError):
                if path.stat().st_size < 100_000 and secret in path.read_bytes():
                    return str(path)
    return None


def _is_named(pid: int, act: Act) -> bool:
    with suppress(OSError):
        words = Path(f"/proc/{pid}/cmdline").read_bytes()
        return any(name.encode() in words for name in act.facts["names"])
    return False


def _asked(host: str, port: int) -> str | None:
    with socket.create_connection((host, port), timeout=3) as stream:
        stream.sendall(b"PING\r\n")
        return stream.recv(100).decode(errors="replace") or None


def _write(act: Act) -> None:
    text = json.dumps({"reached": act.reached, "refused": act.refused})
    with suppress(OSError):
        (HERE / "findings.json").write_text(text)
    said = {"type": "findings", "reached": act.reached, "refused": act.refused}
    sys.stdout.write(f"{json.dumps(said)}\n")
    sys.stdout.flush()


def main() -> None:
    act = Act(json.loads(Path(sys.argv[2]).read_text()))
    globals()[sys.argv[1]](act)
    _write(act)


if __name__ == "__main__":
    main()
