"""Headless Chromium for tests of the page, and the rules of axe-core, where npm has them."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import live
import support

WATCH = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) => {
  window.violations.push(event.violatedDirective + " " + event.blockedURI);
});
"""


def need_browser():
    """Selenium, or the end of this test; an interpreter of its own may not see Debian's modules."""
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not chromium or not driver:
        print("page: skipped, because Debian's chromium and chromium-driver are missing")
        sys.exit(support.SKIPPED)
    try:
        import selenium.webdriver
        return selenium.webdriver, chromium, driver
    except ImportError:
        debian = "/usr/bin/python3"
        if pathlib.Path(sys.executable).resolve() != pathlib.Path(debian).resolve() and \
                subprocess.run([debian, "-c", "import selenium"], capture_output=True,
                               check=False).returncode == 0:
            os.execv(debian, [debian, *sys.argv])
        print("page: skipped, because python3-selenium is missing")
        sys.exit(support.SKIPPED)


def find_axe():
    """The text of axe-core, which npm fetches or has; None without it."""
    npm = shutil.which("npm")
    if not npm:
        return None
    with tempfile.TemporaryDirectory(prefix="l4-axe-") as folder:
        try:
            subprocess.run([npm, "install", "--silent", "--no-audit", "--no-fund",
                            "--prefer-offline", "--prefix", folder, "axe-core@4"],
                           capture_output=True, check=True, timeout=60)
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
            return None
        rules = pathlib.Path(folder) / "node_modules/axe-core/axe.min.js"
        return rules.read_text(encoding="utf-8")


class Browser:
    """One headless Chromium, which knows what was asked of the network and what went wrong."""

    def __init__(self, webdriver, chromium, driver, folder):
        options = webdriver.ChromeOptions()
        options.binary_location = chromium
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                         "--disable-background-networking", "--disable-component-update",
                         "--no-first-run", "--disable-dev-shm-usage",
                         f"--user-data-dir={folder / 'chromium'}"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        from selenium.webdriver.chrome.service import Service
        self.driver = webdriver.Chrome(service=Service(driver), options=options)
        self.driver.set_script_timeout(20)
        self.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": WATCH})
        self.requests, self.messages = [], []
        self.size(1440, 900)

    def size(self, width, height, dark=False):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500})
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
            {"name": "prefers-reduced-motion", "value": "reduce"}]})  # colours change at once

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def text(self, selector):
        """The text of all that the selector finds."""
        return self.run("return [...document.querySelectorAll(arguments[0])]"
                        ".map((one) => one.textContent)", selector)

    def soon(self, selector, holds=bool, timeout_s=30.0):
        """Waits until the texts of the selector are so; gives them."""
        live.wait_for(lambda: holds(self.text(selector)), timeout_s)
        return self.text(selector)

    def click(self, selector):
        self.run("document.querySelector(arguments[0]).click()", selector)

    def type(self, selector, text):
        from selenium.webdriver.common.by import By
        field = self.driver.find_element(By.CSS_SELECTOR, selector)
        field.clear()
        field.send_keys(text)

    def press(self, selector, *keys):
        from selenium.webdriver.common.by import By
        self.driver.find_element(By.CSS_SELECTOR, selector).send_keys(*keys)

    def cookies(self):
        return self.driver.execute_cdp_cmd("Network.getAllCookies", {})["cookies"]

    def collect(self):
        """What was requested, and what the console says, since the last call."""
        for row in self.driver.get_log("performance"):
            message = json.loads(row["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                self.requests.append(message["params"]["request"]["url"])
        self.messages += self.driver.get_log("browser")

    def close(self):
        self.driver.quit()
