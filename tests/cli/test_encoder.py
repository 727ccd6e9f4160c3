"""``--encoder``: texts as vectors in run, predict and label; the default where the extra is installed."""

import numpy as np
import pandas as pd
import pytest

import askwhen as aw
from askwhen.data.schema_json import to_json
from askwhen.workflows import notes
from tests.cli.running import inside, refused
from tests.encoders.folders import write_folder

N = 300


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = np.array(["red", "green", "blue", "sky"])[np.random.default_rng(1).integers(0, 4, (N, 5))]
    texts = [" ".join(row) for row in words]
    label = ["yes" if "red" in text else "no" for text in texts]
    pd.DataFrame({"text": texts, "label": label}).to_csv("mails.csv", index=False)
    return tmp_path


def schema_of(model):
    return notes.read(str(model)).schema


def test_a_folder_of_vectors_is_stored_in_the_model_and_must_be_given_again(folder):
    write_folder(folder / "vectors")
    done = inside("run", "mails.csv", "--encoder", "vectors", "--labels", "20%", "--model", "m.askwhen")
    assert done.returncode == 0, done.stderr
    assert to_json(schema_of("m.askwhen"))["encoder"]["name"] == "vectors"
    assert list(folder.glob("mails.csv.vectors-*.parquet"))
    again = inside("predict", "m.askwhen", "mails.csv", "--out", "p.csv")
    assert again.returncode == 0, again.stderr
    assert len(pd.read_csv("p.csv")) == N


def test_none_leaves_texts_as_words(folder):
    done = inside("run", "mails.csv", "--encoder", "none", "--labels", "20%", "--model", "m.askwhen")
    assert done.returncode == 0, done.stderr
    assert schema_of("m.askwhen").encoder is None
    assert not list(folder.glob("*.parquet"))


def test_static_vectors_are_the_default_where_they_are_installed(folder):
    pytest.importorskip("wordllama", reason="the extra text is not installed")
    done = inside("run", "mails.csv", "--labels", "20%", "--model", "m.askwhen")
    assert done.returncode == 0, done.stderr
    assert schema_of("m.askwhen").encoder._asdict() == aw.encoders.load("static").descriptor()


def test_a_folder_that_is_no_encoder_is_refused(folder):
    (folder / "empty").mkdir()
    assert "model.safetensors" in refused("run", "mails.csv", "--encoder", "empty")


def test_vectors_that_a_model_has_learnt_from_cannot_be_left_out(folder):
    write_folder(folder / "vectors")
    done = inside("run", "mails.csv", "--encoder", "vectors", "--labels", "20%", "--model", "m.askwhen")
    assert done.returncode == 0, done.stderr
    for command in (
        ("predict", "m.askwhen", "mails.csv", "--out", "p.csv"),
        ("run", "mails.csv", "--resume", "m.askwhen"),
    ):
        assert "--encoder none must not be given" in refused(*command, "--encoder", "none")
    assert inside("predict", "m.askwhen", "mails.csv", "--out", "p.csv").returncode == 0
