"""A real PostgreSQL and a real Redis, as Debian has them, on loopback and in folders of their own."""

import contextlib
import os
import pathlib
import pwd
import shutil
import socket
import subprocess
import tempfile
import time

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
        deadline = time.time() + 30
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
