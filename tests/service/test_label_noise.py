"""What the report says of labels: what they are, that the interval takes them for the truth, how often two differ."""

import pytest

from askwhen.evaluate.estimation.share import share_interval
from askwhen.service.use_cases import instances, label_noise, questions, reports, streams
from askwhen.service.use_cases.instances import Raw
from tests.service.coordinators import Time, open_coordinator, run, settings

CERTAIN = {"algorithm": "random", "letters": {"rate": 1.0}, "budget": None, "grace": 0.0}
WARNING = "The interval takes labels for the truth; wrong ones are not in it."


async def answered(coordinator, stream, start, number, differ):
    """Two people answer questions, and differ on the first of them."""
    for i in range(number):
        round = (await instances.play(coordinator, stream, Raw([float(start + i), 1.0]))).round
        await questions.answer(coordinator, stream, round, "ann", "ham")
        await questions.answer(coordinator, stream, round, "bob", "spam" if i < differ else "ham")
    coordinator.tick()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"overlap": 0.0}, "a label is one person's answer, or what a reviewer decided."),
        ({"overlap": 0.1}, "a label is one person's answer, or what a reviewer decided where a second answer differs."),
        (
            {"overlap": 0.1, "decide": "weighted"},
            "a label is one person's answer; where a second answer differs, what the two decide, weighed by how good ",
        ),
        ({"overlap": 0.1, "decide": "adjudicator"}, "a label is what a reviewer decided after one person's answer."),
        ({"slots": 3}, "a label is what most of 3 people answered, or a reviewer decided."),
        ({"slots": 2, "decide": "unanimity"}, "a label is what 2 people agree on, or a reviewer decided."),
        ({"slots": 2, "decide": "adjudicator"}, "a label is what a reviewer decided after the answers of 2 people."),
        ({"slots": 2, "decide": "weighted"}, "a label is what the answers of 2 people decide, weighed by how good"),
    ],
)
def test_the_report_says_what_a_label_is_and_that_its_errors_are_not_in_the_interval(tmp_path, given, words):
    async def go():
        async with open_coordinator(tmp_path / "log.db", Time(), ticks=False) as coordinator:
            stream = await streams.create(coordinator, "mails", settings(**(CERTAIN | given)))
            found = (await reports.report(coordinator, stream, 0.95))["accuracy"]["labels"]
            assert words in found["sentence"]
            assert WARNING in found["sentence"]
            assert found["noise"] == {"compared": 0, "differ": 0, "share": None, "low": 0.0, "high": 1.0}

    run(go())


def test_the_share_of_questions_on_which_two_people_differ_has_an_interval(tmp_path):
    async def go():
        async with open_coordinator(tmp_path / "log.db", Time(), ticks=False) as coordinator:
            stream = await streams.create(coordinator, "mails", settings(**CERTAIN, slots=2))
            await answered(coordinator, stream, 0, 19, 3)
            noise = label_noise.facts(stream, 0.95)["noise"]
            assert (noise["compared"], noise["differ"], noise["share"]) == (19, 3, None)
            await answered(coordinator, stream, 100, 11, 0)
            found = label_noise.facts(stream, 0.9)
            low, high = share_interval(3, 30, 0.9)
            assert found["noise"] == {"compared": 30, "differ": 3, "share": 0.1, "low": low, "high": high}
            said = f"Of 30 questions that two people answered, 10.0% have different labels ({100 * low:.1f}% to "
            assert said in found["sentence"]
            assert "The accuracy can be off, up or down, by as much as labels are wrong." in found["sentence"]
            for slots in (3, 2):  # the pairs of three answers depend on each other
                await streams.change_settings(coordinator, "mails", {"slots": slots}, "root")
                found = label_noise.facts(stream, 0.9)
                assert found["noise"] == {"compared": 30, "differ": 3, "share": None, "low": 0.0, "high": 1.0}
                assert (
                    "In 3 of 30 comparisons of two people's answers they differ; there is no interval"
                    in found["sentence"]
                )
                assert "three answers or more" in found["sentence"]

    run(go())
