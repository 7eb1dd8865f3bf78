"""A headless Chromium without a network, or the reason why there is none."""

import importlib.util
import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
    "--window-size=1280,900", "--disable-background-networking", "--no-first-run",
)  # fmt: skip
PATIENCE = 30.0  # seconds; a machine may be busy


def why_not() -> str:
    """The programs that the tests in a browser lack; empty if there are all."""
    missing = [name for name in ("chromium", "chromedriver") if shutil.which(name) is None]
    if importlib.util.find_spec("selenium") is None:
        missing.append("selenium")
    return f"no {', '.join(missing)} here: make test-browser installs them" if missing else ""


class Browser:
    """One window; every page is opened offline."""

    def __init__(self, downloads: Path) -> None:
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service

        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium") or ""
        for flag in FLAGS:
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        allowed = {"profile.default_content_setting_values.automatic_downloads": 1}
        place = {"download.default_directory": str(downloads)}
        options.add_experimental_option("prefs", place | allowed)
        service = Service(shutil.which("chromedriver"))
        self.driver = webdriver.Chrome(options=options, service=service)
        self.downloads = downloads
        self.cdp("Network.enable")
        conditions = {"latency": 0, "downloadThroughput": 0, "uploadThroughput": 0}
        self.cdp("Network.emulateNetworkConditions", offline=True, **conditions)

    def cdp(self, command: str, **parameters: Any) -> dict[str, Any]:
        """A command of the developer tools."""
        return self.driver.execute_cdp_cmd(command, parameters)

    def open(self, path: Path, fragment: str = "") -> None:
        """Opens a report and waits until it is drawn."""
        self.load(path.resolve().as_uri() + (f"#{fragment}" if fragment else ""))
        self.wait(lambda: self.run("return document.documentElement.dataset.ready") == "true")

    def load(self, address: str) -> None:
        """Opens a page; requests and complaints are counted from here."""
        self.driver.get("about:blank")
        self.driver.get_log("browser"), self.driver.get_log("performance")
        self.driver.get(address)

    def run(self, script: str, *arguments: Any) -> Any:
        """The value of a script."""
        return self.driver.execute_script(script, *arguments)

    def texts(self, selector: str) -> list[str]:
        """The texts of the elements, in the order of the page."""
        script = "return [...document.querySelectorAll(arguments[0])].map(n => n.textContent)"
        found: list[str] = self.run(script, selector)
        return found

    def click(self, selector: str, text: str = "") -> None:
        """Clicks the first element of the selector that holds the text."""
        script = (
            "const node = [...document.querySelectorAll(arguments[0])]"
            ".find(n => n.textContent.includes(arguments[1])); node.click()"
        )
        self.run(script, selector, text)

    def read_download(self, name: str) -> str:
        """The content of a file that a click has saved."""
        path = self.downloads / name
        self.wait(path.is_file)
        content = path.read_text()
        path.unlink()
        return content

    def wait(self, condition: Callable[[], Any]) -> None:
        """Until the condition holds; a browser has no other way to say that it is done."""
        end = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < end, f"not within {PATIENCE} s"
            time.sleep(0.02)

    def requests(self) -> list[str]:
        """Addresses that were asked for since the page was opened."""
        messages = [json.loads(e["message"])["message"] for e in self.driver.get_log("performance")]
        sent = [m["params"] for m in messages if m["method"] == "Network.requestWillBeSent"]
        return [one["request"]["url"] for one in sent]

    def complaints(self) -> list[str]:
        """Messages on the console."""
        return [entry["message"] for entry in self.driver.get_log("browser")]
