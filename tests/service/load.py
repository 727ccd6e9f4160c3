"""Clients that never give up, and remember everything they were told."""

import threading
import uuid

import httpx
import numpy as np


class Crowd:
    """Producers and annotators in threads, on one stream. ``told`` has every reply that said yes."""

    def __init__(self, url, stream, producers, annotators, labels, d=4, seed=0, pause=0.0, advisers=()):
        self.pause, self.advisers = pause, advisers
        self.url, self.stream, self.labels, self.d = url, stream, labels, d
        self.instances, self.answers, self.leases, self.strange = {}, {}, [], []
        self.stopping = threading.Event()
        self.threads = [
            threading.Thread(target=self._run, args=(work, f"{work.__name__[1:]}{i}", seed + i))
            for work, count in ((self._produce, producers), (self._annotate, annotators))
            for i in range(count)
        ]

    def start(self):
        for thread in self.threads:
            thread.start()
        return self

    def stop(self):
        self.stopping.set()
        for thread in self.threads:
            thread.join(180.0)
            assert not thread.is_alive(), "a client is stuck"
        assert not self.strange, self.strange[:3]

    def _run(self, work, name, seed):
        try:
            with httpx.Client(base_url=f"{self.url}/v1/streams/{self.stream}", timeout=60.0) as http:
                work(http, name, np.random.default_rng(seed))
        except Exception as error:  # told to the test
            self.strange.append(repr(error))

    def _send(self, http, path, body, again=True):
        """Send until there is an answer that is not about the server's end; None where we stop before."""
        while True:
            try:
                reply = http.post(path, json=body)
                if reply.status_code < 500 and reply.status_code != 429:
                    return reply
                if reply.status_code not in (502, 503, 504):  # a proxy says the others
                    self.strange.append(f"{path} {reply.status_code} {reply.text[:300]}")
                    return None
            except httpx.TransportError:
                pass
            if self.stopping.is_set() or not again:
                return None
            self.stopping.wait(0.02)

    def _produce(self, http, name, rng):
        i = 0
        while not self.stopping.is_set():
            i += 1
            self.stopping.wait(self.pause)
            x = rng.standard_normal(self.d).round(4).tolist()
            body = {"x": x, "id": f"{name}-{i}"} | self._advice(rng)
            reply = self._send(http, "/instances", body)
            if self.advisers and rng.random() < 0.1:  # after the decision
                self._send(http, "/advice", {"id": f"{name}-{i}", "advice": {self.advisers[0]: self.labels[0]}})
            if reply is not None and reply.status_code == 200:
                self.instances[f"{name}-{i}"] = reply.json()
            elif reply is not None:
                self.strange.append(reply.text[:300])

    def _advice(self, rng):
        """What advisers say of an instance, if the stream has any; each is often silent."""
        words = [self.labels[int(each)] for each in rng.integers(len(self.labels), size=len(self.advisers))]
        said = {name: [word, 0.8] for name, word in zip(self.advisers, words, strict=True) if rng.random() < 0.7}
        return {"advice": said} if said else {}

    def _annotate(self, http, name, rng):
        while not self.stopping.is_set():
            reply = self._send(http, "/questions/next", {"annotator": name}, again=False)
            if reply is None or reply.status_code == 204:
                self.stopping.wait(0.02)
                continue
            if reply.status_code != 200:
                self.strange.append(reply.text[:300])
                continue
            shown, what, key = reply.json(), rng.random(), uuid.uuid4().hex
            self.leases.append((shown["question"], name, shown["until"]))
            path = f"/questions/{shown['question']}"
            if what < 0.05:
                self._send(http, f"{path}/skip", {"annotator": name})
                continue
            if what < 0.1:
                self._send(http, f"{path}/release", {"annotator": name})
                continue
            label = self.labels[int(rng.integers(len(self.labels)))]
            reply = self._send(http, f"{path}/answer", {"label": label, "annotator": name, "key": key})
            if reply is not None and reply.status_code == 200:
                self.answers[key] = reply.json()
            elif reply is not None and reply.status_code != 409:
                self.strange.append(reply.text[:300])
            if what > 0.95:
                self._send(http, "/questions/undo", {"annotator": name}, again=False)
