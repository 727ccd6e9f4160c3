"""A real PostgreSQL for tests: Debian's initdb and pg_ctl, as the user postgres where we are root."""

import contextlib
import glob
import os
import pathlib
import pwd
import shutil
import subprocess
import tempfile

import psycopg
import pytest

from tests.service.serving import free_port

FOUND = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"))
BIN = os.path.dirname(FOUND[-1]) if FOUND else os.path.dirname(shutil.which("initdb") or "")


class Cluster:
    """A server with a folder and a port of its own."""

    def __init__(self):
        if not BIN:
            pytest.skip("there is no PostgreSQL here")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="askwhen-pg-"))
        self.port, self.count = free_port(), 0
        if os.getuid() == 0:
            shutil.chown(self.folder, "postgres")
        self.run("initdb", "-D", f"{self.folder}/data", "-A", "trust", "-E", "UTF8", "--no-locale", "-U", "postgres")
        self.start()

    def run(self, program, *words):
        user = {"user": pwd.getpwnam("postgres").pw_uid} if os.getuid() == 0 else {}
        done = subprocess.run(
            [f"{BIN}/{program}", *words], capture_output=True, text=True, cwd=self.folder, timeout=300, **user
        )
        assert done.returncode == 0, done.stderr + done.stdout

    def start(self, *settings):
        # A checkpoint on the way would have to bring thousands of files of all databases to the disk before a stop.
        options = f"-p {self.port} -k {self.folder} -c listen_addresses=127.0.0.1 -c checkpoint_timeout=1d"
        log = f"{self.folder}/log"
        self.run(
            "pg_ctl", "-D", f"{self.folder}/data", "-o", f"{options} {' '.join(settings)}", "-w", "-l", log, "start"
        )

    def stop(self, mode="fast"):
        self.run("pg_ctl", "-D", f"{self.folder}/data", "-m", mode, "-w", "stop")

    def restart(self, *settings):
        self.stop()
        self.start(*settings)

    def database(self):
        """The address of a new, empty database."""
        self.count += 1
        name = f"db{self.count}"
        with psycopg.connect(self.address("postgres"), autocommit=True) as connection:
            connection.execute(f"create database {name}")
        return self.address(name)

    def address(self, name):
        return f"postgresql://postgres@127.0.0.1:{self.port}/{name}"

    def close(self):
        with contextlib.suppress(AssertionError):
            self.stop("immediate")
        shutil.rmtree(self.folder, ignore_errors=True)
