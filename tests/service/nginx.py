"""A real nginx, with the file that we show for it."""

import pathlib
import re
import shutil
import subprocess
import time

import httpx
import pytest

from tests.service.serving import free_port

DEPLOY = pathlib.Path(__file__).parents[2] / "deploy"
FRAME = """
daemon off; worker_processes 1; pid {folder}/pid; error_log {folder}/error.log; {user}
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/a; proxy_temp_path {folder}/b; fastcgi_temp_path {folder}/c;
    uwsgi_temp_path {folder}/d; scgi_temp_path {folder}/e;
    {server}
}}
"""


class Nginx:
    """A file of ours at a port of ours, without TLS; ``more`` goes into its server.

    That is deploy/nginx.conf in front of a service, with passwords, or deploy/nginx-standby.conf in front of two.
    """

    def __init__(self, folder, service, passwords=None, more="", beside=None):
        command = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")
        if command is None:
            pytest.skip("there is no nginx; apt-get install nginx")
        folder.mkdir(mode=0o755)
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        text = (DEPLOY / ("nginx-standby.conf" if beside else "nginx.conf")).read_text()
        for old, new in [
            ("listen 443 ssl;", f"listen 127.0.0.1:{self.port};\n{more}"),
            (r"ssl_certificate\w* .*;\n", ""),
            (r"127\.0\.0\.1:8300", f"127.0.0.1:{service.port}"),
            (r"127\.0\.0\.1:8301", f"127.0.0.1:{beside.port}")
            if beside
            else (r"/etc/nginx/askwhen\.passwords", str(folder / "passwords")),
        ]:
            assert re.search(old, text), old
            text = re.sub(old, new, text)
        (folder / "passwords").write_text(
            "".join(f"{name}:{{PLAIN}}{word}\n" for name, word in (passwords or {}).items())
        )
        user = "user root;" if pathlib.Path("/proc/self").stat().st_uid == 0 else ""
        (folder / "nginx.conf").write_text(FRAME.format(folder=folder, server=text, user=user))
        self._process = subprocess.Popen([command, "-p", folder, "-c", folder / "nginx.conf", "-e", "stderr"])

    def __enter__(self):
        end = time.monotonic() + 120.0
        while True:
            try:
                httpx.get(self.url)
                return self
            except httpx.TransportError:
                assert self._process.poll() is None
                assert time.monotonic() < end
                time.sleep(0.02)

    def __exit__(self, *_):
        self._process.terminate()
        self._process.wait()
