"""Files and folders are whole or not there."""

import pytest

from stepladder.errors import InputError
from stepladder.files import read_json, whole_folder


def test_a_folder_appears_when_it_is_full_and_not_before(tmp_path):
    with whole_folder(tmp_path / "deep" / "model") as unfinished:
        (unfinished / "weights").write_text("1")
        assert not (tmp_path / "deep" / "model").exists()
    assert (tmp_path / "deep" / "model" / "weights").read_text() == "1"
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["model"]


def test_a_folder_that_was_interrupted_leaves_nothing(tmp_path):
    with pytest.raises(KeyboardInterrupt), whole_folder(tmp_path / "model") as unfinished:
        (unfinished / "weights").write_text("1")
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


def test_whoever_was_faster_is_kept(tmp_path):
    with whole_folder(tmp_path / "model") as unfinished:
        (unfinished / "weights").write_text("slow")
        (tmp_path / "model").mkdir()
        (tmp_path / "model" / "weights").write_text("fast")
    assert (tmp_path / "model" / "weights").read_text() == "fast"


@pytest.mark.parametrize("content", [b"{broken", b"\xff\xfe"])
def test_a_file_that_is_no_json_is_refused_by_its_name(tmp_path, content):
    (tmp_path / "results.json").write_bytes(content)
    with pytest.raises(InputError, match=r"results.json is not JSON"):
        read_json(tmp_path / "results.json", "make one")
