"""What a launch may say about the code agent `command`."""

from __future__ import annotations

from benchmark.rules.protocol import SettingSpec

SETTINGS = (
    SettingSpec(
        name="command",
        type=str,
        default="",
        help="The command line. {request}, {request_file}, {round} and {task} are filled in; without "
        "{request} or {request_file} the request comes on standard input.",
    ),
    SettingSpec(
        name="wall_clock",
        type=float,
        default=3600.0,
        minimum=1.0,
        maximum=7 * 86400.0,
        help="Seconds that the command and everything it starts may take in one round.",
    ),
    SettingSpec(
        name="pass_variables",
        type=str,
        default="",
        help="Names of environment variables that the command gets, separated by commas (a model's key, "
        "HOME). It gets no other; their values are blotted out in what it writes.",
    ),
    SettingSpec(
        name="model_endpoint",
        type=str,
        default="",
        help="The one address that the command may reach from a sandbox that isolates, for example "
        "https://api.example.com or http://127.0.0.1:8080. Empty: none.",
    ),
    SettingSpec(
        name="read_only",
        type=str,
        default="",
        help="Files and folders that the command may read from a sandbox that isolates, separated by commas. "
        "The program itself, its installation and files named in the command line are readable anyway.",
    ),
    SettingSpec(
        name="max_events",
        type=int,
        default=20_000,
        minimum=1,
        maximum=1_000_000,
        help="Lines of output kept per round; the rest is counted.",
    ),
)
