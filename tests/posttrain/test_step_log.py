"""Rows by step: appended, read back, and forgotten after a checkpoint."""

from stepladder.posttrain.step_log import StepLog


def test_rows_come_back_and_those_after_a_step_are_forgotten(tmp_path):
    log = StepLog(tmp_path / "metrics.jsonl")
    for step in (1, 2, 3):
        log.append(step, {"reward": step / 10})
    log.forget_after(2)
    assert list(log.rows()) == [{"step": 1, "reward": 0.1}, {"step": 2, "reward": 0.2}]


def test_a_row_that_was_cut_short_does_not_count(tmp_path):
    log = StepLog(tmp_path / "metrics.jsonl")
    log.append(1, {})
    with log.path.open("a") as file:
        file.write('{"step": 2, "rew')
    assert list(log.rows()) == [{"step": 1}]
    log.forget_after(5)
    assert log.path.read_text() == '{"step": 1}\n'


def test_a_log_that_was_never_written_is_empty(tmp_path):
    assert list(StepLog(tmp_path / "none").rows()) == []
