"""The model that is downloaded: it takes what the stream took, and predicts the stream's labels."""

import csv
import io
import json

import pytest

import askwhen as aw
from askwhen.service.events.settings import Budget, Features, TextVectors
from askwhen.service.use_cases import instances, questions, reports, streams
from askwhen.service.use_cases.instances import Raw
from tests.cli.running import inside
from tests.service.coordinators import Time, open_coordinator, run, settings
from tests.service.test_instance_table import KINDS, TRUTH


def encoded():
    """Texts that are also seen as vectors, by the encoder that is installed."""
    encoder = aw.encoders.load("static")
    vectors = TextVectors(name="static", checksum=encoder.checksum, width=encoder.width)
    return Features(kind="text", places=64, vectors=vectors), KINDS["text"][1]


CASES = {name: (features, x, {}) for name, (features, x, _) in KINDS.items()}
CASES["several"] = (*KINDS["text"][:2], {"labels": ["ham", "other", "spam"]})
CASES["paper"] = (*KINDS["text"][:2], {"algorithm": "sel-p", "letters": {"b": 0.5}, "budget": None, "raw": True})
CASES["vectors"] = None


def downloaded(folder, x, **given):
    """Teach a stream, write its model to mails.askwhen, and return what the stream predicts."""

    async def go():
        async with open_coordinator(folder / "log.db", Time(), ticks=False) as coordinator:
            stream = await streams.create(coordinator, "mails", settings(grace=0.0, **given))
            for i in range(30):
                found = await instances.play(coordinator, stream, Raw(x(i)))
                if found.asked:
                    await questions.answer(coordinator, stream, i, "ann", TRUTH[i])
                    coordinator.tick()
            await coordinator.commits.settled()
            (folder / "mails.askwhen").write_bytes(await reports.model(coordinator, stream))
            return [stream.model.guess(stream.reader.instance(x(i))) for i in range(40)]

    return run(go())


@pytest.mark.parametrize("case", CASES)
def test_it_predicts_the_labels_of_what_the_stream_took(tmp_path, case):
    features, x, more = CASES[case] or (*encoded(), {})
    guesses = downloaded(tmp_path, x, **{"features": features, "budget": Budget(rate=0.3)} | more)
    for load in (aw.load, aw.Sampler.load):
        sampler = load(tmp_path / "mails.askwhen")
        X = [x(i) for i in range(40)]
        assert sampler.predict(X, live=True).tolist() == [label for label, _ in guesses]
        assert {"ham", "spam"} <= set(map(str, sampler.classes))
        assert sampler.predict([x(3)], live=True).tolist() == [guesses[3][0]]
        ask = sampler.ask(x(3))
        assert ask.prediction == guesses[3][0]
        if ask.query:
            sampler.tell(ask, "ham")
        sampler.learn(x(4), "spam")


@pytest.mark.parametrize("kind", ["text", "hashed", "mixed", "named", "columns"])
def test_the_command_predicts_files_with_it(tmp_path, monkeypatch, kind):
    features, x, _ = KINDS[kind]
    downloaded(tmp_path, x, features=features)
    monkeypatch.chdir(tmp_path)
    names = features.names
    rows = [
        x(i) if isinstance(x(i), dict) else dict(zip(names or ["text"], [x(i)] if names is None else x(i), strict=True))
        for i in range(40)
    ]
    wanted = aw.load("mails.askwhen").predict(rows).tolist()
    out = io.StringIO()
    writer = csv.DictWriter(out, ["id", *rows[0]])
    writer.writeheader()
    writer.writerows({"id": f"m{i}"} | row for i, row in enumerate(rows))
    (tmp_path / "file.csv").write_text(out.getvalue())
    (tmp_path / "file.ndjson").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for file in ("file.csv", "file.ndjson"):
        done = inside("predict", "mails.askwhen", file)
        assert done.returncode == 0, done.stderr
        labels = [row["label"] for row in csv.DictReader(io.StringIO(done.stdout))]
        assert labels == wanted
        assert set(labels) == {"ham", "spam"}
