"""A real browser for the tests of pages; they are skipped where there is none."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

CHROMIUM, CHROMEDRIVER = shutil.which("chromium"), shutil.which("chromedriver")


class Browser:
    """Chromium without a window."""

    def __init__(self, profile: Path) -> None:
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service

        options = webdriver.ChromeOptions()
        options.binary_location = str(CHROMIUM)
        for flag in (
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--disable-background-networking",
            "--no-first-run",
            f"--user-data-dir={profile}",
        ):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(str(CHROMEDRIVER)))
        self.shown: tuple[Path, int, bool] | None = None

    def show(self, page: Path, width: int = 1200, dark: bool = False) -> None:
        """Load a page, unless it is there already and nothing has been done to it."""
        if self.shown != (page, width, dark):
            self.open(page, width, dark)
            self.shown = (page, width, dark)

    def open(self, page: Path, width: int = 1200, dark: bool = False) -> None:
        """Load a page afresh and wait until it is drawn."""
        self.shown = None
        self.driver.get("about:blank")
        self.size(width)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
        self.messages(), self.requests()
        self.driver.get(page.as_uri())
        self.wait("return document.documentElement.dataset.ready === 'yes'")

    def size(self, width: int, height: int = 900) -> None:
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)

    def js(self, script: str, *arguments: Any) -> Any:
        return self.driver.execute_script(script, *arguments)

    def wait(self, condition: str, *arguments: Any, seconds: float = 30) -> None:
        """Wait until a script returns true."""
        end = time.monotonic() + seconds
        while not self.js(condition, *arguments):
            assert time.monotonic() < end, f"{condition} took too long; the console says {self.messages()}"
            time.sleep(0.05)

    def all(self, selector: str) -> list[Any]:
        return self.driver.find_elements("css selector", selector)

    def one(self, selector: str) -> Any:
        return self.driver.find_element("css selector", selector)

    def click(self, node: Any) -> None:
        """Bring something into view at once and click on it."""
        self.reveal(node)
        node.click()

    def reveal(self, node: Any) -> None:
        self.js("arguments[0].scrollIntoView({ behavior: 'instant', block: 'center' })", node)

    def messages(self) -> list[str]:
        """What the console says, since last asked."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self) -> list[str]:
        """Everything that was asked for, since last asked."""
        events = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        sent = {"Network.requestWillBeSent": ("request", "url"), "Network.webSocketCreated": ("url",)}
        urls = []
        for event in events:
            if event["method"] in sent:
                found: Any = event["params"]
                for key in sent[event["method"]]:
                    found = found[key]
                urls.append(found)
        return urls

    def column(self, table: str, number: int) -> list[str]:
        """The cells of a table's column."""
        script = "return [...document.querySelectorAll(arguments[0])].map((cell) => cell.textContent)"
        return self.js(script, f"{table} tbody td:nth-child({number})")


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """One browser for all tests, with a new profile."""
    if not (CHROMIUM and CHROMEDRIVER):
        pytest.skip("no chromium and chromedriver here")
    browser = Browser(tmp_path_factory.mktemp("chromium"))
    yield browser
    browser.driver.quit()
