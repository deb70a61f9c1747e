"""What README and docs show is true: commands parse, run and print it, Python runs, links lead somewhere."""

from __future__ import annotations

import contextlib
import importlib
import io
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import tyro

from stepladder.cli import COMMANDS, main
from stepladder.commands import console

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
SHELLS = ("bash", "console", "sh")

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
TABLE_LINE = re.compile(r"^[┏┃┡│└├╭╰]")

TOO_LONG = {
    "reproduce --quick --out runs/quick": "the whole quick run is tested in tests/reproduce/test_whole_run.py",
    "theory --calibration": "minutes: the calibration of `pays`",
    "experiment": "an hour of training; tests/posttrain runs small ones",
    "train": "minutes of training; tests/posttrain trains a smaller model",
    "profile": "minutes of sampling; tests/commands/test_profile.py profiles a known model",
    "diagnose": "minutes of sampling; tests/commands/test_diagnose.py diagnoses a known model",
    "evaluate": "minutes of sampling; tests/commands/test_evaluate.py evaluates known models",
}
"""Commands that are only parsed, by how they begin, and why."""

SLOW = ("complexity", "theory", "search --method bai", "python docs/spanner.md")
"""Examples that may take more than ten seconds on a busy core, by how they begin."""


class Block(NamedTuple):
    """A fenced block of a page."""

    page: Path
    line: int
    language: str
    text: str
    after: str
    """What follows on the page."""


class Example(NamedTuple):
    """A command and what the page says it prints."""

    place: str
    command: str
    shown: tuple[str, ...]
    """The lines below it; none where only the command is shown."""
    runs: bool
    """Whether it stands in a block to be typed, and alone in its pipe."""


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [
        Block(page, text[: found.start()].count("\n") + 1, found[1], found[2], text[found.end() :])
        for found in FENCE.finditer(text)
    ]


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def shown_commands() -> list[Example]:
    """Every command line of a fenced block that calls stepladder, with the output below it."""
    found: list[tuple[str, str, list[str], bool]] = []
    for page in PAGES:
        for block in blocks(page):
            fresh = False
            for number, line in enumerate(block.text.splitlines(), start=block.line + 1):
                words = line.removeprefix("$ ")
                if line.startswith("$ ") or (block.language != "console" and words.startswith("stepladder ")):
                    fresh = words.startswith("stepladder ")
                    if fresh:
                        place, typed = f"{name_of(page)}:{number}", block.language in SHELLS
                        found.append((place, words.removeprefix("stepladder "), [], typed))
                elif block.language == "console" and fresh:
                    found[-1][2].append(line)
    # What another program makes of the output, or a remark, is not ours to check.
    return [
        Example(place, re.split(r"  #| \| ", line)[0].strip(), tuple(shown), typed and " | " not in line)
        for place, line, shown, typed in found
    ]


def slow_if_it_is(value: Example | Path) -> Any:
    """Mark what takes long."""
    if isinstance(value, Path):
        name, start = name_of(value), f"python {name_of(value)}"
    else:
        name, start = value.place, value.command
    return pytest.param(value, marks=[pytest.mark.slow] if start.startswith(SLOW) else [], id=name)


EXAMPLES = shown_commands()
RUN = [
    slow_if_it_is(example)
    for example in EXAMPLES
    if example.runs and not example.command.startswith(tuple(TOO_LONG))
]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.place)
def test_a_shown_command_has_the_options_it_is_given(example):
    name, *options = shlex.split(example.command)
    assert name in COMMANDS or name in ("--help", "--version")
    if name in COMMANDS and not {"--help", "-h"} & set(options):
        module = importlib.import_module(f"stepladder.commands.{name}")
        with contextlib.redirect_stderr(io.StringIO()) as complaint:
            try:
                tyro.cli(module.Command, args=options)
            except SystemExit:
                pytest.fail(complaint.getvalue())


def in_order(shown: tuple[str, ...], printed: str) -> str | None:
    """Return the first shown line that is not printed in its turn; `...` stands for anything."""
    lines = [line.strip() for line in printed.splitlines()]
    place, skipping = 0, False
    for line in (line.strip() for line in shown):
        if line == "..." or not line:
            skipping = True
            continue
        pattern = re.compile(".*".join(re.escape(part) for part in line.split("...")))
        candidates = lines[place:] if skipping else [one for one in lines[place:] if one][:1]
        match = next((one for one in candidates if pattern.fullmatch(one)), None)
        if match is None:
            return line
        place, skipping = lines.index(match, place) + 1, False
    return None


DONE: dict[tuple[str, int], tuple[int, str]] = {}
"""What a command printed, so that one shown on several pages runs once."""


@pytest.fixture
def ran(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[[str, int], tuple[int, str]]:
    """Run a command line in an empty folder, on a terminal of the given width."""
    monkeypatch.chdir(tmp_path)

    def command(line: str, width: int) -> tuple[int, str]:
        monkeypatch.setattr(console.stdout, "_width", width)
        code = 0
        try:
            main(shlex.split(line))
        except SystemExit as stop:
            code = int(stop.code or 0)
        captured = capsys.readouterr()
        return code, captured.out + captured.err

    return command


@pytest.mark.parametrize("example", RUN)
def test_a_shown_command_runs_and_prints_what_is_shown(example, ran):
    # Tables are as wide as the terminal lets them be, so the terminal is as wide as the widest table shown.
    width = max([80, *(len(line) for line in example.shown if TABLE_LINE.match(line))])
    for name, text in files_shown(example):
        Path(name).write_text(text, encoding="utf-8")
    for earlier in needed_before(example):
        assert ran(earlier, 80)[0] == 0
    if (example.command, width) not in DONE:
        DONE[example.command, width] = ran(example.command, width)
    code, printed = DONE[example.command, width]
    refusal = example.shown[:1] and example.shown[0].startswith("stepladder: ")
    assert code == (2 if refusal else 0), printed
    missing = in_order(example.shown, printed)
    assert missing is None, f"not printed in its turn: {missing!r}\n{printed}"


def needed_before(example: Example) -> list[str]:
    """A report and a score need what the same page makes before them."""
    name, *words = example.command.split()
    if name not in ("report", "score"):
        return []
    page = example.place.split(":")[0]
    makers = [one.command for one in EXAMPLES if one.place.startswith(page) and "--out" in one.command.split()]
    wanted = words[{"report": 0, "score": 1}[name]]
    return [command for command in makers if f"--out {wanted}" in command][:1]


def files_shown(example: Example) -> list[tuple[str, str]]:
    """Return the files that a page shows: a jsonl block, by the name in the line before it."""
    page = ROOT / example.place.split(":")[0]
    lines = page.read_text(encoding="utf-8").splitlines()
    return [
        (re.findall(r"`([^`]+)`", lines[block.line - 3])[-1], block.text)
        for block in blocks(page)
        if block.language == "jsonl"
    ]


def test_every_reason_not_to_run_a_command_is_still_one():
    for start in TOO_LONG:
        assert [example for example in EXAMPLES if example.command.startswith(start)], start


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_shown_somewhere(command):
    assert [example for example in EXAMPLES if example.command.startswith(command)]


def test_the_comparison_of_output_finds_what_is_missing_and_what_is_out_of_order():
    printed = "one\ntwo 3.14 s\nthree\n"
    assert in_order(("one", "two ... s", "three"), printed) is None
    assert in_order(("...", "three", "..."), printed) is None
    assert in_order(("one", "three"), printed) == "three"
    assert in_order(("...", "three", "...", "one"), printed) == "one"
    assert in_order(("...", "four"), printed) == "four"


def python_pages() -> list[Path]:
    return [page for page in PAGES if any(block.language == "python" for block in blocks(page))]


@pytest.mark.parametrize("page", [slow_if_it_is(page) for page in python_pages()])
def test_python_on_a_page_runs_and_prints_what_is_shown(page):
    names: dict[str, object] = {}
    for block in blocks(page):
        if block.language != "python":
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(block.text, f"{name_of(page)}:{block.line}", "exec"), names)
        output = re.match(r"\s*```\n(.*?)^```$", block.after, re.MULTILINE | re.DOTALL)
        prose = re.match(r"\s*It prints ((?:`[^`]+`(?:, | and )?)+)", block.after)
        if output:
            assert printed.getvalue() == output[1]
        elif prose:
            assert printed.getvalue().splitlines() == re.findall(r"`([^`]+)`", prose[1])


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as code hosts make them."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    given = set(re.findall(r"<a (?:id|name)=\"([^\"]+)\"", text))
    return given | {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_on_a_page_lead_somewhere(page):
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    for link in LINK.findall(text):
        if re.match(r"\w+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert target.is_relative_to(ROOT), link
        if anchor:
            assert anchor in anchors(target), link


@pytest.mark.parametrize("tables", sorted((ROOT / "docs" / "experiments").glob("*/tables.md")), ids=str)
def test_the_tables_of_an_experiment_are_those_that_its_command_wrote(tables):
    assert tables.read_text() in (ROOT / "docs" / "commands" / "experiment.md").read_text()


def test_every_command_has_a_page_and_every_page_is_linked_to():
    pages = {page.stem for page in (ROOT / "docs" / "commands").glob("*.md")}
    assert pages >= set(COMMANDS)
    linked = {
        (page.parent / link.partition("#")[0]).resolve()
        for page in PAGES
        for link in LINK.findall(page.read_text(encoding="utf-8"))
        if not re.match(r"\w+:", link)
    }
    assert [name_of(page) for page in PAGES if page not in linked and page.name != "README.md"] == []
