"""Find the round and the expected outcome that each mark of a file is about, or say why there is none."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from annotation.marked_files import FileMark, MarkedFile, round_in_path
from benchmark.models import ExpectedOutcome
from benchmark.packs.names import expected_instead
from benchmark.packs.problems import Problems, Repair
from benchmark.rules.vocabulary import Mark
from runs.exporting import TRIAL_NAME, safe_name
from runs.models import Round, Run, Trial


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeMark:
    """A mark of a file with the outcome that it is about."""

    outcome: int
    position: tuple[int, int]
    criterion: str
    said: FileMark
    line: int | None
    parser: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundMarks:
    """One file with the round that it is about."""

    file: MarkedFile
    round: Round
    marks: tuple[OutcomeMark, ...]


@dataclass(slots=True, kw_only=True)
class Matched:
    """What was found: every file with its round, what was mended or left out, and remarks."""

    files: list[RoundMarks] = field(default_factory=list)
    repairs: list[Repair] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    unmatched: int = 0


def matched(files: Sequence[MarkedFile], run: Run, *, leave_out: bool) -> Matched:
    """Return each mark with its outcome. Raises ImportRefused with every mark that has none.

    `leave_out` lists marks whose text is not in the rubric instead, and goes on without them.
    """
    problems = Problems()
    found = Matched()
    rubric = _Rubric(run)
    for file in files:
        found.repairs += file.repairs
        round_ = rubric.round_of(file, problems)
        if round_ is None:
            continue
        marks = tuple(_marks(file, round_, rubric, problems, found, leave_out=leave_out))
        found.files.append(RoundMarks(file=file, round=round_, marks=marks))
    if found.unmatched:
        problems.add("", "--leave-out lists marks that fit nothing in the rubric and imports the others.")
    problems.refuse_if_any()
    others = sum(1 for file in files if file.benchmark_hash not in ("", run.benchmark_hash))
    if others:
        found.notes.append(
            f"{_files(others)} made under another version of the rubric; texts were compared one by one."
        )
    return found


def same_words(text: str) -> str:
    """A text as it is compared: composed characters, and one blank where there are several."""
    return " ".join(unicodedata.normalize("NFC", text).split())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Outcome:
    pk: int
    index: int
    text: str
    position: tuple[int, int]


class _Rubric:
    """The trials and rounds of a run, and the outcomes of its tasks."""

    def __init__(self, run: Run) -> None:
        self._run = run
        trials = Trial.objects.filter(run=run).select_related("task").order_by("task__position", "repeat")
        self._trials = {trial.pk: trial for trial in trials}
        self._rounds: dict[int, dict[int, Round]] = defaultdict(dict)
        for round_ in Round.objects.filter(trial__run=run).order_by("trial", "number"):
            round_.trial = self._trials[round_.trial_id]
            self._rounds[round_.trial_id][round_.number] = round_
        self._outcomes: dict[int, dict[str, list[_Outcome]]] = defaultdict(lambda: defaultdict(list))
        rows = ExpectedOutcome.objects.filter(
            criterion__task__in={trial.task_id for trial in self._trials.values()}
        )
        for pk, index, text, task, key, position in rows.order_by("criterion", "index").values_list(
            "pk", "index", "text", "criterion__task_id", "criterion__key", "criterion__position"
        ):
            outcome = _Outcome(pk=pk, index=index, text=text, position=(position, index))
            self._outcomes[task][key].append(outcome)

    def outcomes(self, round_: Round) -> dict[str, list[_Outcome]]:
        """Criterion key → its outcomes in order."""
        return self._outcomes[round_.trial.task_id]

    def round_of(self, file: MarkedFile, problems: Problems) -> Round | None:
        """Return the round that a file is about, or None after a problem was added."""
        trial = self._trial_of(file, problems)
        if trial is None:
            return None
        rounds = self._rounds[trial.pk]
        number = file.round if file.round is not None else round_in_path(file)
        if number is None and len(rounds) == 1:
            number = next(iter(rounds))
        if number is None or number not in rounds:
            there = ", ".join(str(each) for each in rounds) or "none"
            said = "does not say which round it is about" if number is None else f"is about round {number}"
            self._problem(
                file, "round", f"the file {said}; {trial.task.key} has the rounds: {there}.", problems
            )
            return None
        round_ = rounds[number]
        if file.snapshot and round_.snapshot and file.snapshot != round_.snapshot:
            self._problem(
                file,
                "snapshot",
                f"the marks are about the snapshot {file.snapshot[:12]}, and round {number} of "
                f"{trial.task.key} has {round_.snapshot[:12]}: another candidate. Name the run that it is from.",
                problems,
            )
            return None
        return round_

    def _trial_of(self, file: MarkedFile, problems: Problems) -> Trial | None:
        known = sorted({trial.task.key for trial in self._trials.values()})
        task = file.task if file.task is not None else self._task_in_path(file, known)
        if file.task is not None and file.task not in known:
            text = f"run {self._run.pk} has no task {file.task!r:.70}; {expected_instead(file.task, known)}"
            self._problem(file, "task", text, problems)
            return None
        candidates = [trial for trial in self._trials.values() if task is None or trial.task.key == task]
        named = self._named(file, candidates)
        if named is not None:
            return named
        if file.snapshot and len(candidates) > 1:
            candidates = [
                trial
                for trial in candidates
                if any(each.snapshot == file.snapshot for each in self._rounds[trial.pk].values())
            ]
        if len(candidates) == 1:
            return candidates[0]
        self._problem(
            file,
            "trial",
            f"the file does not say which of the trials of run {self._run.pk} it is about; put it into "
            "<task>/<trial>/round_<n>/, or give task, trial and round in it, as `proofroom export` writes them.",
            problems,
        )
        return None

    def _named(self, file: MarkedFile, candidates: list[Trial]) -> Trial | None:
        names = [file.trial] if file.trial is not None else list(file.folders[:3])
        for name in names:
            found = TRIAL_NAME.fullmatch(name)
            trial = self._trials.get(int(found[1])) if found else None
            if trial in candidates:
                return trial
        return None

    def _task_in_path(self, file: MarkedFile, known: list[str]) -> str | None:
        return next((key for folder in file.folders[:3] for key in known if safe_name(key) == folder), None)

    def _problem(self, file: MarkedFile, name: str, text: str, problems: Problems) -> None:
        file.located.problem(problems, (name,), text)


def _marks(
    file: MarkedFile,
    round_: Round,
    rubric: _Rubric,
    problems: Problems,
    found: Matched,
    *,
    leave_out: bool,
) -> Iterator[OutcomeMark]:
    criteria = rubric.outcomes(round_)
    for said in file.marks:
        line = file.located.line_of(said.place)
        outcomes = criteria.get(said.criterion)
        chosen: list[_Outcome] | str
        if outcomes is None:
            chosen = f"there is no criterion {said.criterion!r:.70} in task {round_.trial.task.key}."
        else:
            chosen = _chosen(said, outcomes)
        if isinstance(chosen, str):
            if leave_out:
                found.repairs.append(Repair(name="left_out", file=file.name, line=line, text=chosen))
            else:
                problems.add(file.name, chosen, line=line)
                found.unmatched += 1
            continue
        if len(chosen) > 1 and said.mark in (Mark.FAIL, Mark.PARTIAL):
            text = (
                f"criterion {said.criterion} is {said.mark} as a whole; each of its {len(chosen)} outcomes "
                "got that mark."
            )
            found.repairs.append(Repair(name="spread", file=file.name, line=line, text=text))
        for outcome in chosen:
            yield OutcomeMark(
                outcome=outcome.pk,
                position=outcome.position,
                criterion=said.criterion,
                said=said,
                line=line,
                parser=file.parser,
            )


def _chosen(said: FileMark, outcomes: list[_Outcome]) -> list[_Outcome] | str:
    """Return the outcomes that a mark is about, or a sentence that says why there is none."""
    key, index = said.criterion, said.index
    at = next((outcome for outcome in outcomes if outcome.index == index), None)
    if said.text is None:
        if index is None:
            return outcomes
        if at is None:
            return f"criterion {key} has {len(outcomes)} outcomes (from 0), and none with index {index}."
        return [at]
    same = [outcome for outcome in outcomes if same_words(outcome.text) == same_words(said.text)]
    if not same:
        now = f" Outcome {index} is now {_short(at.text)}." if at is not None else ""
        return f"criterion {key} has no outcome {_short(said.text)} in this version of the rubric.{now}"
    if index is None:
        if len(same) > 1:
            return f"criterion {key} has the outcome {_short(said.text)} {len(same)} times; give its index."
        return same
    if at not in same:
        places = " or ".join(str(outcome.index) for outcome in same)
        return f"the outcome {_short(said.text)} of criterion {key} has index {places}, not {index}."
    assert at is not None
    return [at]


def _short(text: str) -> str:
    text = same_words(text)
    return f"“{text}”" if len(text) <= 90 else f"“{text[:89]}…”"


def _files(count: int) -> str:
    return "1 file was" if count == 1 else f"{count} files were"
