"""Forms of the curator's place: what an import would refuse is refused here in the same words."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from django import forms
from django.core.exceptions import ValidationError

from benchmark.curating import uploads_of
from benchmark.models import Benchmark, Criterion, ExpectedOutcome, Prerequisite, Task
from benchmark.packs.checks import graph_findings
from benchmark.packs.deploy import deploy_problems
from benchmark.packs.head import checked_settings
from benchmark.packs.located import unstorable_values
from benchmark.packs.names import KEY_RULE, is_key
from benchmark.packs.texts import tidy
from benchmark.protocols import protocol
from benchmark.rules.scripts import criterion_script_problems

if TYPE_CHECKING:
    _BenchmarkForm = forms.ModelForm[Benchmark]
    _TaskForm = forms.ModelForm[Task]
    _CriterionForm = forms.ModelForm[Criterion]
    _OutcomeFormSet = forms.BaseInlineFormSet[ExpectedOutcome, Criterion, forms.ModelForm[ExpectedOutcome]]
    _PrerequisiteFormSet = forms.BaseInlineFormSet[Prerequisite, Criterion, forms.ModelForm[Prerequisite]]
else:  # Django's own classes take no parameters
    _BenchmarkForm = _TaskForm = _CriterionForm = forms.ModelForm
    _OutcomeFormSet = _PrerequisiteFormSet = forms.BaseInlineFormSet

_OUTCOME_OF_PROBLEM = re.compile(r"outcome (\d+)\b")


class PrettyJSONField(forms.JSONField):
    """JSON as a person reads it: indented, accents kept."""

    def prepare_value(self, value: Any) -> Any:
        if isinstance(value, str) or value is None:
            return super().prepare_value(value)
        return json.dumps(value, ensure_ascii=False, indent=2)


class BenchmarkForm(_BenchmarkForm):
    """What a curator may say of a benchmark as a whole."""

    class Meta:
        model = Benchmark
        fields = ("title", "description", "licence", "settings")

    def clean_settings(self) -> dict[str, Any]:
        given = self.cleaned_data["settings"] or {}
        if not isinstance(given, dict):
            raise ValidationError('Settings are an object, such as {"threshold": 0.5}.')
        taken, refused = checked_settings(given, protocol(self.instance.protocol))
        if refused:
            raise ValidationError(list(refused.values()))
        return taken

    def clean_description(self) -> str:
        return tidy(self.cleaned_data["description"])


class TaskForm(_TaskForm):
    """One task: its texts, how it is deployed, and free facts."""

    def clean_key(self) -> str:
        return _checked_key(self.cleaned_data["key"])

    def clean_request(self) -> str:
        return tidy(self.cleaned_data["request"])

    def clean_prd(self) -> str:
        return tidy(self.cleaned_data["prd"])

    def clean_deploy(self) -> dict[str, Any]:
        deploy = _object(self.cleaned_data["deploy"])
        if problems := [text for _, text in deploy_problems(deploy)]:
            raise ValidationError(problems)
        return deploy

    def clean_facts(self) -> dict[str, Any]:
        return _object(self.cleaned_data["facts"])


class CriterionForm(_CriterionForm):
    """One criterion; its scripts and prerequisites are checked with the rows below it."""

    def clean_key(self) -> str:
        return _checked_key(self.cleaned_data["key"])

    def clean_tags(self) -> list[str]:
        tags = self.cleaned_data["tags"] or []
        if not isinstance(tags, list) or not all(isinstance(tag, str) and tag for tag in tags):
            raise ValidationError('Tags are a list of texts, such as ["chart"].')
        return tags

    def clean_before(self) -> list[Any]:
        before = self.cleaned_data["before"] or []
        if problems := criterion_script_problems(before, []):
            raise ValidationError(problems)
        return list(before)

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean() or self.cleaned_data
        task = self.instance.task if self.instance.pk else cleaned.get("task")
        if task is None:
            return cleaned
        rules = protocol(task.benchmark.protocol)
        lowest, highest = rules.weights
        if (kind := cleaned.get("kind")) and kind not in rules.kinds:
            text = f"The kind is {kind!r}; protocol {rules.name} knows {', '.join(rules.kinds)}."
            self.add_error("kind", text)
        if (weight := cleaned.get("weight")) is not None and not lowest <= weight <= highest:
            text = f"The weight is {weight}; it is a whole number from {lowest} to {highest}."
            self.add_error("weight", text)
        return cleaned


class OutcomeFormSet(_OutcomeFormSet):
    """The outcomes of a criterion, whose scripts are checked together."""

    def clean(self) -> None:
        super().clean()
        if any(self.errors) or self.instance.task_id is None:
            return
        rows = [
            form
            for form in self.forms
            if not form.cleaned_data.get("DELETE") and (form.instance.pk or form.has_changed())
        ]
        if not rows:
            raise ValidationError("A criterion expects at least one outcome; keep one or add one.")
        task = self.instance.task
        scripts = [form.cleaned_data.get("script") for form in rows]
        for text in criterion_script_problems(self.instance.before or (), scripts, uploads=uploads_of(task)):
            match = _OUTCOME_OF_PROBLEM.match(text)
            if match:
                rows[int(match[1]) - 1].add_error("script", text)
            else:
                raise ValidationError(text)


class PrerequisiteFormSet(_PrerequisiteFormSet):
    """The prerequisites of a criterion, checked within the graph of its task."""

    def clean(self) -> None:
        super().clean()
        if any(self.errors) or self.instance.task_id is None:
            return
        here = self.instance
        needed = [
            form.cleaned_data["needs"]
            for form in self.forms
            if form.cleaned_data.get("needs") and not form.cleaned_data.get("DELETE")
        ]
        strangers = [need.key for need in needed if need.task_id != here.task_id]
        if strangers:
            raise ValidationError(f"{', '.join(strangers)} belongs to another task; choose of this one.")
        graph: dict[str, list[str]] = {
            key: [] for key in here.task.criteria.exclude(pk=here.pk).values_list("key", flat=True)
        }
        edges = Prerequisite.objects.filter(criterion__task=here.task).exclude(criterion=here.pk)
        for key, need in edges.values_list("criterion__key", "needs__key"):
            graph[key].append(need)
        graph[here.key] = [need.key for need in needed]
        findings = graph_findings([{"key": key, "needs": needs} for key, needs in graph.items()])
        if problems := [finding.text for finding in findings]:
            raise ValidationError(problems)


def _checked_key(key: str) -> str:
    if not is_key(key):
        raise ValidationError(f"The key is {key!r}; it takes {KEY_RULE}.")
    return key


def _object(value: Any) -> dict[str, Any]:
    if value in (None, ""):
        return {}
    if not isinstance(value, dict):
        raise ValidationError('This is an object, such as {"category": "shop"}.')
    if problems := [text for _, text in unstorable_values(value)]:
        raise ValidationError(problems)
    return value
