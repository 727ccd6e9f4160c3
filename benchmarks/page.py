"""How long a person waits for the page: from a key to the next question, and for the first view.

``ASKWHEN_BROWSER=/usr/bin/chromium python benchmarks/page.py [questions]``. Headless Chromium and a service on
loopback. The time of an answer is from the event of the key to the next question in the document, and to the frame that
shows it; that of the first view from the request for the page to the first question, with nothing in the browser's
cache. The load of the machine is printed beside them.
"""

from __future__ import annotations

import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx

import askwhen as aw

VIEWS = 12
WATCH = """() => {
    window.took = [];
    let pressed = 0;
    document.addEventListener('keydown', event => { pressed = event.timeStamp; }, true);
    new MutationObserver(() => {
        const at = performance.now(), from = pressed;
        if (from && document.querySelector('.question .instance')) {
            pressed = 0;
            requestAnimationFrame(() => window.took.push([at - from, performance.now() - from]));
        }
    }).observe(document.querySelector('.question'), {childList: true});
}"""
SHOWN = "() => document.querySelector('.question .instance') && performance.now()"


def serve(folder: Path) -> tuple[subprocess.Popen[bytes], str]:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    command = [sys.executable, "-m", "askwhen", "serve", "--db", str(folder / "page.db"), "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}"
    while True:
        try:
            if httpx.get(f"{url}/readyz").status_code == 200:
                return process, url
        except httpx.TransportError:
            if process.poll() is not None:
                raise SystemExit("the service did not start") from None
            time.sleep(0.05)


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[min(int(share * len(values)), len(values) - 1)]


def answers(page: Any, questions: int) -> list[list[float]]:
    page.wait_for_selector(".question .instance")
    page.evaluate(WATCH)
    for i in range(questions):
        page.wait_for_selector(".question[data-ahead='1'] .instance")
        page.wait_for_timeout(120)
        page.keyboard.press("123"[i % 3])
        page.wait_for_function("count => window.took.length === count", arg=i + 1)
    found: list[list[float]] = page.evaluate("() => window.took")
    return found


def first_view(browser: Any, url: str) -> tuple[float, float, float]:
    """Milliseconds to the first question, to the first paint, and bytes over the wire."""
    context = browser.new_context()
    page = context.new_page()
    wire = context.new_cdp_session(page)
    sizes: list[float] = []
    wire.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
    wire.send("Network.enable")
    page.add_init_script("localStorage.setItem('askwhen name', 'ann')")
    page.goto(f"{url}/label/speed")
    took = page.wait_for_function(SHOWN, polling="raf").json_value()
    paint = page.evaluate("() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN")
    page.wait_for_timeout(300)
    context.close()
    return took, paint, sum(sizes)


def main() -> None:
    from playwright.sync_api import sync_playwright

    questions = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        process, url = serve(Path(folder))
        try:
            with aw.Client(url) as client:
                stream = client.create(
                    "speed", labels=["ham", "spam", "other"], features={"kind": "text"}, budget={"rate": 1.0}, lease=5.0
                )
                mails = ({"x": f"mail {i}: " + "some words of a mail " * 40} for i in range(questions + 50))
                sum(1 for _ in stream.ask_many(mails))
            options = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
            browser = playwright.chromium.launch(executable_path=os.environ["ASKWHEN_BROWSER"], args=options)
            views = [first_view(browser, url) for _ in range(VIEWS)]
            page = browser.new_page()
            page.add_init_script("localStorage.setItem('askwhen name', 'bob')")
            page.goto(f"{url}/label/speed")
            took = answers(page, questions)
            browser.close()
        finally:
            process.terminate()
            process.wait()
    print(f"{len(took)} answers, {VIEWS} first views; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors\n")
    print("what a person waits for on the page\n")
    print("| what | median | p95 | largest |\n|---|---:|---:|---:|")
    shown, paint, size = zip(*views, strict=True)
    for what, values in (
        ("from a key to the next question in the document, ms", [each[0] for each in took]),
        ("from a key to the frame that shows it, ms", [each[1] for each in took]),
        ("first paint, ms", paint),
        ("first question on the screen, ms", shown),
        ("first view, KB over the wire", [each / 1024 for each in size]),
    ):
        row = (statistics.median(values), percentile(list(values), 0.95), max(values))
        print(f"| {what} | {' | '.join(f'{each:.0f}' for each in row)} |")


if __name__ == "__main__":
    main()
