"""A real PostgreSQL, Redis and NATS, and librdkafka's own brokers, on loopback and in folders of their own."""

import asyncio
import contextlib
import os
import pathlib
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

import confluent_kafka
import nats
import psycopg
import pytest
import redis

PROGRAMS = max(map(str, pathlib.Path("/usr/lib/postgresql").glob("*/bin")), default="")


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


class Postgres:
    """A server; where we are root it runs as the user postgres, since it refuses to run as root."""

    def __init__(self):
        if not PROGRAMS:
            pytest.skip("there is no PostgreSQL here; apt-get install postgresql")
        self.folder, self.port, self.made = tempfile.mkdtemp(prefix="keyed-postgres-"), free_port(), 0
        self.who = {"user": pwd.getpwnam("postgres").pw_uid} if os.getuid() == 0 else {}
        if self.who:
            shutil.chown(self.folder, "postgres")
        data = f"{self.folder}/data"
        self._do("initdb", "-D", data, "-U", "postgres", "-A", "trust", "--no-locale", "-E", "UTF8", "--no-sync")
        options = f"-p {self.port} -k {self.folder} -c listen_addresses=127.0.0.1"
        self._do("pg_ctl", "-D", data, "-l", f"{self.folder}/log", "-w", "-o", options, "start")

    def _do(self, program, *words):
        done = subprocess.run(
            [f"{PROGRAMS}/{program}", *words], cwd=self.folder, capture_output=True, text=True, **self.who
        )
        assert done.returncode == 0, done.stdout + done.stderr

    def address(self, name="postgres"):
        return f"postgresql://postgres@127.0.0.1:{self.port}/{name}"

    def database(self):
        self.made += 1
        with psycopg.connect(self.address(), autocommit=True) as connection:
            connection.execute(f"create database keyed{self.made}")
        return self.address(f"keyed{self.made}")

    def close(self):
        with contextlib.suppress(AssertionError):
            self._do("pg_ctl", "-D", f"{self.folder}/data", "-m", "immediate", "-w", "stop")
        shutil.rmtree(self.folder, ignore_errors=True)


class Redis:
    """A server whose log is on the disk before it answers."""

    def __init__(self):
        program = shutil.which("redis-server")
        if program is None:
            pytest.skip("there is no Redis here; apt-get install redis-server")
        self.folder, self.port, self.made = tempfile.mkdtemp(prefix="keyed-redis-"), free_port(), 0
        durable = ["--appendonly", "yes", "--appendfsync", "always", "--save", ""]
        where = ["--port", str(self.port), "--bind", "127.0.0.1", "--dir", self.folder]
        self.process = subprocess.Popen([program, *where, *durable], stdout=subprocess.DEVNULL)
        self.connection = redis.Redis(port=self.port)
        deadline = time.time() + 120
        while time.time() < deadline:
            with contextlib.suppress(redis.ConnectionError):
                if self.connection.ping():
                    return
            time.sleep(0.05)
        raise AssertionError("Redis does not answer")

    def address(self, prefix):
        return f"redis://127.0.0.1:{self.port}/0?streams={prefix}"

    def prefix(self):
        self.made += 1
        return f"log{self.made}:"

    def close(self):
        self.connection.close()
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


BROKERS = """
import sys
from confluent_kafka import Producer
client = Producer({"bootstrap.servers": "none", "test.mock.num.brokers": 3, "log_level": 0})
print(",".join(f"{each.host}:{each.port}" for each in client.list_topics().brokers.values()), flush=True)
sys.stdin.read()
"""


class Kafka:
    """Three brokers of librdkafka in a process of their own; each topic has four partitions, of 5 MB each at most."""

    def __init__(self):
        command = [sys.executable, "-c", BROKERS]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.brokers, self.made = self.process.stdout.readline().strip(), 0
        self.producer = confluent_kafka.Producer({"bootstrap.servers": self.brokers, "log_level": 0})

    def address(self, topic, **options):
        more = "&".join(f"{name}={value}" for name, value in options.items())
        return f"kafka://{self.brokers}/{topic}" + (f"?{more}" if more else "")

    def topic(self):
        """A new topic."""
        self.made += 1
        name = f"topic-{self.made}"
        while not self.producer.list_topics(name, timeout=30).topics[name].partitions:  # a producer makes what it names
            time.sleep(0.05)
        return name

    def put(self, topic, partition, values, keys=None, times=None):
        """Add messages to a partition."""
        for i, value in enumerate(values):
            more = {} if times is None else {"timestamp": times[i]}
            self.producer.produce(topic, value, None if keys is None else keys[i], partition, **more)
        assert self.producer.flush(30) == 0

    def messages(self, topic, partition):
        """All messages of a partition."""
        config = {"group.id": "tests", "enable.partition.eof": True, "auto.offset.reset": "earliest", "log_level": 0}
        reader = confluent_kafka.Consumer({"bootstrap.servers": self.brokers, **config})
        reader.assign([confluent_kafka.TopicPartition(topic, partition, 0)])
        found = []
        while True:
            for message in reader.consume(1000, 0.05):  # it waits for all of them
                if message.error() is not None:
                    assert message.error().code() == confluent_kafka.KafkaError._PARTITION_EOF, message.error()
                    reader.close()
                    return found
                found.append(message)

    def close(self):
        self.process.kill()
        self.process.communicate()


class Nats:
    """A server with JetStream; ``do`` runs what is done with a client of its own."""

    def __init__(self):
        program = shutil.which("nats-server")
        if program is None:
            pytest.skip("there is no NATS here; apt-get install nats-server")
        self.folder, self.port, self.made = tempfile.mkdtemp(prefix="keyed-nats-"), free_port(), 0
        command = [program, "-js", "-sd", self.folder, "-a", "127.0.0.1", "-p", str(self.port)]
        self.process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        deadline = time.time() + 30
        while time.time() < deadline:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
                return
            time.sleep(0.05)
        raise AssertionError("NATS does not answer")

    def address(self, stream, **options):
        more = "&".join(f"{name}={value}" for name, value in options.items())
        return f"nats://127.0.0.1:{self.port}/{stream}" + (f"?{more}" if more else "")

    def do(self, work):
        async def connected():
            client = await nats.connect(f"nats://127.0.0.1:{self.port}")
            try:
                return await work(client.jetstream())
            finally:
                await client.close()

        with ThreadPoolExecutor(1) as alone:  # a browser's tests may have left a loop running in this thread
            return alone.submit(lambda: asyncio.run(connected())).result()

    def stream(self, **options):
        """A new stream, of the subjects under its name in small letters."""
        self.made += 1
        name = f"STREAM{self.made}"
        self.do(lambda jetstream: jetstream.add_stream(name=name, subjects=[f"{name.lower()}.>"], **options))
        return name

    def put(self, subject, values):
        async def work(jetstream):
            for value in values:
                await jetstream.publish(subject, value)

        self.do(work)

    def messages(self, stream, subject):
        """All messages of a subject."""

        async def work(jetstream):
            there = (await jetstream.stream_info(stream, subjects_filter=subject)).state.subjects or {}
            if not there:
                return []
            reader = await jetstream.pull_subscribe(subject, stream=stream)
            found = []
            while len(found) < there[subject]:
                found += await reader.fetch(there[subject] - len(found), timeout=5)
            return found

        return self.do(work)

    def close(self):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
