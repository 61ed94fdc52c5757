"""The published and house values that agreement must reproduce, which lie beside this repository."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from annotation.agreement.sums import MISSING
from annotation.agreement.weights import Floats

FILE = Path(__file__).resolve().parents[4] / "shared" / "oracles" / "agreement.json"
CONTINGENCY = (
    "cohen1960_p45",
    "paradox_high",
    "paradox2_sym",
    "wikipedia_kappa_50",
    "gwet_paradox_2x2",
    "cont3x3abstractors",
    "sas_3x3",
    "artstein_poesio2008_1",
    "ordinal4",
    "ppf_house",
)
RAW = ("krippendorff2011_C", "gwet_raw4raters", "krippendorff2011_A", "fleiss1971")
CLASSIFICATION = ("prf_basic", "prf_no_gold_pos", "prf_no_pred_pos", "prf_all_pass", "prf_all_fail")


def oracle(name: str) -> dict[str, Any]:
    """One entry; skips the test where the file is not there."""
    return _entries()[name]


def edge_case(name: str) -> dict[str, Any]:
    """One edge case; skips the test where the file is not there."""
    return next(case for case in _whole()["edge_cases"] if case["case"] == name)


def all_ids() -> set[str]:
    return set(_entries())


def table_of(entry: dict[str, Any]) -> Floats:
    return np.array(entry["input"]["table"], dtype=np.float64)


def codes_of(entry: dict[str, Any]) -> np.ndarray[Any, Any]:
    """Raw ratings, one row an item, as indices into the declared categories."""
    categories = entry["input"]["categories"]
    return np.array(
        [
            [MISSING if rating is None else categories.index(rating) for rating in row]
            for row in entry["input"]["ratings"]
        ]
    )


def _entries() -> dict[str, dict[str, Any]]:
    return {entry["id"]: entry for entry in _whole()["oracles"]}


def _whole() -> dict[str, Any]:
    if not FILE.exists():
        pytest.skip("the oracle file is not beside this repository (../shared/oracles/agreement.json)")
    return _read()


@cache
def _read() -> dict[str, Any]:
    document: dict[str, Any] = json.loads(FILE.read_text())
    return document
