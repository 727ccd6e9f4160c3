"""A team of four on a pile, while labels change and the service is killed: what is exported agrees with what was said.

The export is read as a program of the team would read it: from files, with nothing of the package.
"""

import collections
import contextlib
import csv
import io
import itertools
import json
import random
import signal
import threading
import time
import uuid

import httpx
import pytest

from tests.service.nursery import Child, Nursery
from tests.soak import times

pytestmark = pytest.mark.xdist_group("service team")

TEAM = ["ann", "bob", "cid", "dora"]
WORDS = {"ham": ["lunch", "home", "later"], "spam": ["prize", "cash", "win"], "news": ["minister", "vote", "storm"]}
ANSWERS, BETWEEN_KILLS, BETWEEN_CHANGES = times((150, 25, 35), (8_000, 250, 700))
"""Answers of all, and how many come between two kills and two changes of labels, however fast that is here."""


def texts(n, rng):
    """Short texts about one of three subjects, all different, and which subject it is."""
    found = []
    for i in range(n):
        label = rng.choice(list(WORDS))
        found.append((" ".join([*rng.choices(WORDS[label], k=3), f"number{i}"]), label))
    return found


class Team:
    """People, an importer and an admin in threads, who try again until they hear what became of a request."""

    def __init__(self, url, pile, seed):
        self.url, self.pile, self.seed = url, pile, seed
        self.truth = dict(pile)
        self.accepted, self.answers, self.strange = set(), {}, []
        self.names = {label: label for label in WORDS}  # the current name of each subject
        self.renamed, self.stopping, self.lock = [], threading.Event(), threading.Lock()
        work = [(self.import_all, "root"), (self.change_labels, "root"), *((self.label, who) for who in TEAM)]
        self.threads = [threading.Thread(target=self._run, args=each) for each in work]

    def _run(self, work, who):
        try:
            with httpx.Client(base_url=f"{self.url}/v1/streams/pile", timeout=120.0) as http:
                work(http, who, random.Random(f"{self.seed} {work.__name__} {who}"))
        except Exception as error:  # told to the test
            self.strange.append(repr(error))

    def _post(self, http, path, body=None, content=None):
        """Asks until there is a reply, also when all stop: the service is up then, and nobody is left in doubt."""
        while True:
            with contextlib.suppress(httpx.TransportError):
                headers = {} if content is None else {"Content-Type": "application/x-ndjson"}
                reply = http.post(path, json=body, content=content, headers=headers)
                if reply.status_code < 500:
                    return reply
                if reply.status_code != 503:
                    self.strange.append(reply.text[:300])
            time.sleep(0.02)

    def import_all(self, http, who, rng):
        """Sends the pile in pieces; each until it was taken."""
        rows = [{"id": text.split()[-1], "x": text, "source": "pile.csv"} for text, _ in self.pile]
        for first in range(0, len(rows), 50):
            part = rows[first : first + 50]
            body = "".join(json.dumps(each) + "\n" for each in part)
            reply = self._post(http, "/instances", content=body.encode())
            lines = [json.loads(line) for line in reply.text.splitlines()]
            if any(line.get("end") for line in lines):
                self.strange.append(lines[-1])
            self.accepted |= {line["id"] for line in lines}
            if self.stopping.wait(0.05):
                return

    def label(self, http, who, rng):
        """Answers by the truth, sometimes wrongly, and sometimes skips, is unsure, comments or takes an answer back."""
        while not self.stopping.is_set():
            reply = self._post(http, "/questions/next", {"annotator": who, "key": uuid.uuid4().hex})
            if reply.status_code != 200:
                self.stopping.wait(0.02)
                continue
            shown, what = reply.json(), rng.random()
            path, key = f"/questions/{shown['question']}", uuid.uuid4().hex
            if what < 0.04:
                self._post(http, f"{path}/skip", {"annotator": who, "key": key})
                continue
            wrong = rng.random() < 0.15
            subject = rng.choice(list(WORDS)) if wrong else self.truth[shown["x"]]
            with self.lock:
                label = self.names[subject]
            body = {"annotator": who, "key": key, "lead": 1.0} | ({"unsure": True} if what > 0.96 else {"label": label})
            reply = self._post(http, f"{path}/answer", body)
            if reply.status_code == 200:
                self.answers[shown["question"], who] = None if what > 0.96 else label
            elif reply.status_code != 409:
                self.strange.append(reply.text[:300])
            if 0.04 <= what < 0.08 and reply.status_code == 200:
                undone = self._post(http, f"{path}/undo", {"annotator": who, "key": uuid.uuid4().hex})
                if undone.status_code == 200:
                    self.answers.pop((shown["question"], who))

    def change_labels(self, http, who, rng):
        """Adds labels, renames one, and merges two, again and again."""
        for i in itertools.count():
            while len(self.answers) < (i + 1) * BETWEEN_CHANGES:
                if self.stopping.wait(0.02):
                    return
            new, before = f"other {i}", self.names["ham"]
            added = self._post(http, "/labels/add", {"labels": [new], "key": f"add {i}"})
            with self.lock:  # nobody gives a name that is changed at this moment
                renamed = self._post(http, "/labels/rename", {"label": before, "to": f"ham {i}", "key": f"rename {i}"})
                self.names["ham"] = f"ham {i}"
                self.renamed.append((before, f"ham {i}"))
            merged = self._post(http, "/labels/merge", {"label": new, "into": f"ham {i}", "key": f"merge {i}"})
            self.renamed.append((new, f"ham {i}"))
            for reply in (added, renamed, merged):
                if reply.status_code >= 300:
                    self.strange.append(reply.text[:300])

    def now(self, label):
        """The current name of a label that was given."""
        for old, new in self.renamed:
            label = new if label == old else label
        return label

    def stop(self):
        self.stopping.set()
        for thread in self.threads:
            thread.join(60.0)
            assert not thread.is_alive(), "somebody is stuck"


def table(http, name):
    """A table as a team reads it, with nothing but a reader of CSV."""
    reply = http.get(f"/export?table={name}&format=csv&raw=true")
    assert reply.status_code == 200
    return list(csv.DictReader(io.StringIO(reply.text)))


def decide_disputes(http, team):
    """A reviewer decides everything that is disputed; the labels, by question."""
    found, after = {}, -1
    while after is not None:
        page = http.get(f"/review?which=disputed&after={after}").json()
        for each in page["questions"]:
            label = team.names[team.truth[each["shown"]["x"]]]
            reply = http.post(
                f"/questions/{each['shown']['question']}/review", json={"annotator": "rae", "label": label}
            )
            assert reply.status_code < 300
            found[each["shown"]["question"]] = label
        after = page["next"]
    return found


@pytest.fixture(scope="module")
def nursery(tmp_path_factory):
    with Nursery(tmp_path_factory.mktemp("nursery") / "log") as nursery:
        yield nursery


def test_four_people_labels_that_change_and_kills_end_in_an_export_that_agrees(nursery, tmp_path):
    rng = random.Random(4)
    pile = texts(times(600, 20_000), rng)
    given = {"labels": list(WORDS), "features": {"kind": "text", "places": 4096, "vectors": False}, "slots": 2}
    given |= {"budget": {"rate": 0.4}, "mode": "backlog", "grace": 0.2, "lease": 2.0, "seed": 3}
    with Child(nursery, tmp_path / "log.db") as server:
        made = httpx.post(f"{server.url}/v1/streams", json={"name": "pile", "settings": given}, timeout=60.0)
        assert made.status_code == 201
        team = Team(server.url, pile, 5)
        for thread in team.threads:
            thread.start()
        for wanted in range(BETWEEN_KILLS, ANSWERS + 1, BETWEEN_KILLS):
            while len(team.answers) < wanted and not team.strange:
                time.sleep(0.02)
            time.sleep(rng.uniform(0.0, 0.1))
            server.end(signal.SIGKILL)
            server.start()
        team.stop()
        assert not team.strange, team.strange[:3]
        with httpx.Client(base_url=f"{server.url}/v1/streams/pile", timeout=60.0) as http:
            time.sleep(0.5)  # the grace of the last answers
            decided = decide_disputes(http, team)
            exported = [table(http, name) for name in ("instances", "labels")]
            report = http.get("/report").json()["accuracy"]
            facts = http.get("").json()
        server.end(signal.SIGKILL)
        server.start()
        with httpx.Client(base_url=f"{server.url}/v1/streams/pile", timeout=60.0) as http:
            assert [table(http, name) for name in ("instances", "labels")] == exported, "a kill changes nothing"
    check(team, facts, report, decided, *exported)
    assert len(team.answers) >= ANSWERS - BETWEEN_KILLS
    assert decided, "nobody disagreed"
    assert len(team.renamed) > 6


def check(team, facts, report, decided, instances, answers):
    """Everything that was said is in the export once, and what the export says of it follows by plain rules."""
    ids = [row["id"] for row in instances]
    assert len(ids) == len(set(ids))
    assert team.accepted <= set(ids), "an instance was lost"
    standing = [row for row in answers if row["undone"] == "False"]
    stands = {(int(row["question"]), row["annotator"]): row["answer"] or None for row in standing}
    said = {place: team.now(label) for place, label in team.answers.items()}
    assert stands == said
    by_question = collections.defaultdict(list)
    for (question, _), label in stands.items():
        by_question[question].append(label)
    names = set(facts["settings"]["labels"])
    assert set(team.names.values()) <= names
    known = right = 0
    for row in instances:
        assert {row["label"], row["prediction"], row["prediction_now"]} <= names | {""}
        assert row["delivered"] == (row["label"] or row["prediction"])
        question = int(row["round"]) if row["round"] else None
        given = [label for label in by_question.get(question, []) if label is not None]
        if question in decided:
            assert row["label"] == decided[question]
        elif len(by_question.get(question, [])) == 2 and len(set(given)) == 1:
            assert row["label"] == given[0], "both said the same, or one was unsure"
        elif not given:
            assert row["label"] == ""
        if row["label"]:
            known += 1
            right += row["label"] == row["prediction"]
    assert report["answered"] == known
    assert report["rounds"] == sum(row["round"] != "" for row in instances)
    assert facts["disputed"] == 0
    overall = report["overall"]
    assert overall["low"] <= overall["high"]
    if overall["value"] is not None:
        assert overall["low"] <= overall["value"] <= overall["high"]
