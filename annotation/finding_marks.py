"""Find the result files below a path, in a folder, a zip or one file, and read them all."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path

from annotation.marked_documents import read_document
from annotation.marked_files import MarkedFile
from benchmark.packs.archive import Limits, unpacked
from benchmark.packs.located import read_json
from benchmark.packs.names import is_junk
from benchmark.packs.problems import ImportRefused, Problem, Problems
from runs.exporting import FILE_NAME

LARGEST = 64 << 20


def read_marked_files(path: Path) -> list[MarkedFile]:
    """Return the result files of a folder, a zip or a single file. Raises ImportRefused with every problem.

    In a folder only files that are called as ours are read, or every .json where none is.
    """
    if path.is_dir():
        return _read(list(_files_in(path)), root=path)
    if not path.is_file():
        raise ImportRefused([Problem(file=str(path), text="there is nothing under this path.")])
    if zipfile.is_zipfile(path):
        with unpacked(path, limits=Limits()) as folder:
            return _read(list(_files_in(folder)), root=folder)
    return _read([path], root=path.parent)


def _files_in(folder: Path) -> Iterator[Path]:
    found = sorted(path for path in folder.rglob("*.json") if path.is_file())
    found = [path for path in found if not is_junk(path.relative_to(folder).as_posix())]
    ours = [path for path in found if path.name == FILE_NAME]
    if not found:
        raise ImportRefused([Problem(file=folder.name, text=f"holds no {FILE_NAME} and no other .json.")])
    yield from ours or found


def _read(paths: list[Path], *, root: Path) -> list[MarkedFile]:
    problems = Problems()
    files = []
    for path in paths:
        name = path.relative_to(root).as_posix()
        if path.stat().st_size > LARGEST:
            problems.add(name, f"the file is larger than {LARGEST >> 20} MiB, the most that is read.")
            continue
        located = read_json(path.read_bytes(), name, problems)
        if located is not None and (file := read_document(located, problems)) is not None:
            files.append(file)
    problems.refuse_if_any()
    return files
