"""Samples depend on what was asked and on nothing else, and survive a kill."""

from stepladder.evaluate.sampler import Decoding, Request


def requests(sampler, count, level=4):
    return [Request(sampler.task.generate(level, index), index % 3) for index in range(count)]


def test_every_request_gets_a_judged_sample_with_its_hint_in_front(stepper):
    sampler = stepper(0.5)
    drawn = sampler.draw(requests(sampler, 100))
    assert [sample.id for sample in drawn] == [one.problem.id for one in requests(sampler, 100)]
    for sample, one in zip(drawn, requests(sampler, 100), strict=True):
        hint = sampler.task.hint(one.problem, one.hint_steps)
        assert sample.completion.startswith(hint)
        assert sample.correct == sampler.task.verify(one.problem, sample.completion).correct
    assert 0 < sum(sample.correct for sample in drawn) < 100


def test_what_is_in_the_log_is_not_drawn_again(stepper, tmp_path):
    path = tmp_path / "samples.jsonl"
    first = stepper(0.5, path)
    drawn = first.draw(requests(first, 100))
    again = stepper(0.5, path)
    assert again.draw(requests(again, 100)) == drawn
    assert (first.completer.calls, again.completer.calls) == (2, 0)


def test_a_log_cut_anywhere_gives_the_same_samples_when_run_again(stepper, tmp_path):
    path = tmp_path / "samples.jsonl"
    whole = stepper(0.5, path, batch=16)
    drawn = whole.draw(requests(whole, 40))
    text = path.read_bytes()
    for cut in (1, len(text) // 3, len(text) // 2, len(text) - 1):
        path.write_bytes(text[:cut])
        again = stepper(0.5, path, batch=16)
        assert again.draw(requests(again, 40)) == drawn
        once_more = stepper(0.5, path, batch=16)
        assert once_more.draw(requests(once_more, 40)) == drawn
        assert once_more.completer.calls == 0


def test_another_model_decoding_or_seed_draws_anew(stepper, tmp_path):
    path = tmp_path / "samples.jsonl"
    first = stepper(0.5, path)
    first.draw(requests(first, 10))
    for name, value in (("identity", "another model"), ("decoding", Decoding(top_k=7)), ("seed", 5)):
        other = stepper(0.5, path)
        setattr(other, name, value)
        other.draw(requests(other, 10))
        assert other.completer.calls == 1, name
    same = stepper(0.5, path)
    same.draw(requests(same, 10))
    assert same.completer.calls == 0
