"""The files of a candidate, read as text: bounded, escaped, and without the agent's name."""

from __future__ import annotations

import pytest

from annotation import filelist
from annotation.agent_names import HiddenNames, names_of
from tests import campaigns
from tests.annotation import looks

FILES = {
    "CLAUDE.md": b"notes",
    ".claude/settings.json": b"{}",
    "src/cursor/move.js": b"export const cursor = 1;\n",
    "src/heron-2/index.js": b"// written by Heron-2 for you\n<script>alert(1)</script>\n",
    "logo.png": b"\x89PNG\r\n\x1a\n\0\0\0",
    "latin.txt": b"caf\xe9 and more words than one in ten",
    "empty.txt": b"",
}


def _read(client, assignment, path):
    page = client.get(f"/annotation/{assignment.pk}/files/").content.decode()
    place = page.index(path) if path in page else page.index(f'data-path="{path}')
    number = page[place:].split(f"/annotation/{assignment.pk}/files/")[1].split("/")[0]
    return client.get(f"/annotation/{assignment.pk}/files/{number}/").content.decode()


@pytest.fixture
def opened(db):
    assignment = looks.a_set(FILES, centre="files")
    return assignment, looks.client(assignment.annotator)


def test_files_are_listed_without_notes_to_an_agent_while_blind(opened):
    assignment, client = opened

    page = client.get(f"/annotation/{assignment.pk}/files/").content.decode()

    assert "2 files with notes to a code agent are not shown" in page
    assert "src/cursor/move.js" in page
    assert "heron" not in page.lower()
    assert "claude" not in page.lower()


def test_a_file_that_is_held_back_cannot_be_read_by_its_number(opened):
    assignment, client = opened

    answers = [client.get(f"/annotation/{assignment.pk}/files/{number}/") for number in (0, 1, 99)]

    assert [answer.status_code for answer in answers] == [404, 404, 404]


def test_text_is_escaped_numbered_and_names_no_agent(opened):
    assignment, client = opened

    page = _read(client, assignment, "src/▒▒▒/index.js")

    assert "&lt;script&gt;" in page
    assert "<script" not in page
    assert "heron" not in page.lower()
    assert page.count("<li>") == 2


@pytest.mark.parametrize(
    ("path", "words"),
    [("logo.png", "This file is binary"), ("empty.txt", "The file is empty"), ("latin.txt", "caf�")],
)
def test_files_that_are_no_plain_text_say_so(opened, path, words):
    assignment, client = opened

    assert words in _read(client, assignment, path)


@pytest.mark.django_db
def test_an_unblinded_campaign_shows_every_file():
    assignment = looks.a_set(FILES, centre="files", is_blind=False)

    page = looks.client(assignment.annotator).get(f"/annotation/{assignment.pk}/files/").content.decode()

    assert "CLAUDE.md" in page
    assert "heron-2" in page


@pytest.mark.django_db
def test_long_files_and_lines_are_cut_with_a_sentence():
    many = b"".join(b"line %d\n" % number for number in range(filelist.MOST_LINES + 10))
    assignment = looks.a_set({"many.txt": many, "wide.txt": b"x" * 10_000}, centre="files")
    client = looks.client(assignment.annotator)

    long, wide = _read(client, assignment, "many.txt"), _read(client, assignment, "wide.txt")

    assert "its first 5,000 lines are shown" in long
    assert long.count("<li>") == filelist.MOST_LINES
    assert "8,000 more characters" in wide


@pytest.mark.django_db
def test_files_are_for_the_annotator_and_leads_alone():
    assignment = looks.a_set(FILES, centre="files")

    for address in ("files/", "files/2/"):
        people = (campaigns.lead(), campaigns.person())
        answers = [looks.client(person).get(f"/annotation/{assignment.pk}/{address}") for person in people]
        assert [answer.status_code for answer in answers] == [200, 404]


@pytest.mark.django_db
def test_a_round_without_stored_files_says_so():
    assignment = looks.a_set(centre="files")

    page = looks.client(assignment.annotator).get(f"/annotation/{assignment.pk}/files/").content.decode()

    assert "No file was stored in this round" in page


def test_names_come_from_label_command_and_model():
    names = names_of(
        label="run of claude-opus-4-1",
        agent_settings={
            "command": "npx codex exec -m openai/gpt-5.1 --model=qwen3-coder {request}",
            "wall_clock": 9,
        },
    )

    assert set(names) >= {"run of claude-opus-4-1", "codex", "openai/gpt-5.1", "gpt-5.1", "qwen3-coder"}


def test_an_ordinary_word_is_no_name():
    names = names_of(label="recorded", agent_settings={"candidate": "packs/rival", "command": "make"})

    assert names == ()


def test_names_are_hidden_as_whole_words_in_every_case():
    hidden = HiddenNames(names=("gpt-5.1", "codex"))

    assert hidden.taken_out_of("CODEX (gpt-5.1) wrote codexes") == "▒▒▒ (▒▒▒) wrote codexes"
    assert HiddenNames().taken_out_of("codex") == "codex"


@pytest.mark.parametrize(
    ("path", "is_hidden"),
    [
        ("AGENTS.md", True),
        ("docs/.cursor/rules.mdc", True),
        (".cursorrules", True),
        (".aider.chat.history.md", True),
        (".github/copilot-instructions.md", True),
        ("opencode.json", True),
        ("src/agents/list.js", False),
        ("cursor/index.html", False),
        ("README.md", False),
        ("mini.js", False),
    ],
)
def test_notes_to_agents_are_told_from_the_applications_own_files(path, is_hidden):
    assert HiddenNames(names=()).hides_file(path) is is_hidden
