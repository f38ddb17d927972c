"""A real Chromium, driven through chromedriver by plain WebDriver calls."""

import base64
import json
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, cast

_FLAGS: Final = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic",
    "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--hide-scrollbars",
)  # fmt: skip
_ELEMENT: Final = "element-6066-11e4-a52e-4f735466cecf"
_KEYS: Final = {"left": "\ue012", "right": "\ue014", "home": "\ue011", "end": "\ue010", "tab": "\ue004"}


def missing() -> str | None:
    """The program that is not installed here, if any."""
    return next((name for name in ("chromium", "chromedriver") if shutil.which(name) is None), None)


class Browser:
    """One browser session."""

    def __init__(self, driver: str, session: str) -> None:
        self._session = f"{driver}/session/{session}"

    def call(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        return _request(method, self._session + path, body)

    def open(self, url: str) -> None:
        self.call("POST", "/url", {"url": "about:blank"})  # so that a new fragment is a new page
        self.call("POST", "/url", {"url": url})

    def run(self, script: str, *arguments: Any) -> Any:
        return self.call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def resize(self, width: int, height: int) -> None:
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.devtools("Emulation.setDeviceMetricsOverride", **metrics)

    def speak(self, language: str) -> None:
        """The browser's language from the next page on."""
        agent = self.run("return navigator.userAgent")
        self.devtools("Emulation.setUserAgentOverride", userAgent=agent, acceptLanguage=language)

    def prefer(self, scheme: str) -> None:
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.devtools("Emulation.setEmulatedMedia", features=features)

    def devtools(self, command: str, **parameters: Any) -> Any:
        return self.call("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def click(self, selector: str) -> None:
        self.call("POST", f"/element/{self._find(selector)}/click", {})

    def type(self, selector: str, text: str) -> None:
        self.call("POST", f"/element/{self._find(selector)}/value", {"text": text})

    def press(self, *names: str) -> None:
        """Keys to whatever has the focus."""
        keys = [{"type": kind, "value": _KEYS[name]} for name in names for kind in ("keyDown", "keyUp")]
        self.call("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": keys}]})

    def text(self, selector: str) -> str:
        return str(self.run("return document.querySelector(arguments[0])?.innerText ?? ''", selector))

    def fill(self, text: str, field: str = "#input") -> None:
        self.run("document.querySelector(arguments[0]).value = arguments[1]", field, text)

    def verify(self, text: str) -> str:
        """Verify a text; the verdict's class, such as ``good``."""
        self.fill(text)
        self.run("document.getElementById('verdict').replaceChildren()")
        self.click("#verify")
        return self.verdict()

    def verdict(self) -> str:
        """The class of the verdict, as soon as there is one."""
        script = "return document.querySelector('#verdict .verdict')?.className ?? ''"
        deadline = time.monotonic() + 10
        while not (found := str(self.run(script))) and time.monotonic() < deadline:
            time.sleep(0.02)
        return found.removeprefix("verdict ")

    def complaints(self) -> list[str]:
        """What the console got since last asked: errors, warnings, violations of the policy."""
        entries = self.call("POST", "/se/log", {"type": "browser"})
        return [entry["message"] for entry in entries]

    def requests(self) -> list[str]:
        """What the page asked for since last asked, apart from data: and the browser's own chrome:."""
        log = self.call("POST", "/se/log", {"type": "performance"})
        events = [json.loads(entry["message"])["message"] for entry in log]
        sent = [event for event in events if event["method"] == "Network.requestWillBeSent"]
        urls = [str(event["params"]["request"]["url"]) for event in sent]
        return [url for url in urls if not url.startswith(("data:", "chrome:"))]

    def screenshot(self, path: Path) -> None:
        """The whole page as it is laid out now."""
        size = self.devtools("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        shot = self.devtools("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)
        path.write_bytes(base64.b64decode(shot["data"]))

    def _find(self, selector: str) -> str:
        found = self.call("POST", "/element", {"using": "css selector", "value": selector})
        return str(found[_ELEMENT])


@contextmanager
def browser(profile: Path) -> Iterator[Browser]:
    """A browser with an empty profile in ``profile``."""
    with _driver() as driver:
        options = {"binary": shutil.which("chromium"), "args": [*_FLAGS, f"--user-data-dir={profile}"]}
        logs = {"browser": "ALL", "performance": "ALL"}
        capabilities = {"goog:chromeOptions": options, "goog:loggingPrefs": logs}
        session = _request("POST", f"{driver}/session", {"capabilities": {"alwaysMatch": capabilities}})
        chromium = Browser(driver, session["sessionId"])
        try:
            yield chromium
        finally:
            chromium.call("DELETE", "")


@contextmanager
def _driver() -> Iterator[str]:
    port = _free_port()
    command = [shutil.which("chromedriver") or "chromedriver", f"--port={port}", "--log-level=SEVERE"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        try:
            yield _answering(f"http://127.0.0.1:{port}")
        finally:
            process.terminate()


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return cast("int", listener.getsockname()[1])


def _answering(driver: str) -> str:
    deadline = time.monotonic() + 20
    while True:
        try:
            if _request("GET", f"{driver}/status")["ready"]:
                return driver
        except OSError:
            if time.monotonic() > deadline:
                raise
        time.sleep(0.05)


def _request(method: str, url: str, body: dict[str, Any] | None = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)["value"]
    except urllib.error.HTTPError as error:
        raise AssertionError(f"{url}: {error.read().decode()[:500]}") from None
