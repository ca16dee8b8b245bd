#!/usr/bin/env python3
"""A report as one HTML file in a browser: opened from disk, with hostile text, without scripts.

usage: one_file.py L4 [--screenshots FOLDER]

`l4 diagnose --html` writes the file of the sample and of a hostile job; headless Chromium opens
them by file://. Skipped where Chromium, its driver or python3-selenium is missing. With
--screenshots the file is also kept as pictures, at both widths and in both schemes.
"""
import json
import pathlib
import sys
import tempfile
import time

import browsing
import live
import local
import page
import support

FILE_BYTES_MAX = 2_000_000
WIDTHS = (1440, 390)
SECRET = "hf_" + "aB3dE6gH9jK2mN5pQ8rS1tU4vW7xY0zAbC"


class Test:
    def __init__(self, expect, l4, browser, folder, pictures):
        self.expect, self.l4, self.browser = expect, l4, browser
        self.folder, self.pictures = folder, pictures

    def write(self, logs, name):
        """The file of a folder of logs, and its report."""
        file = self.folder / name
        done, report = self.l4.report(logs, "--html", file)
        self.expect.equal((done.status, file.is_file()), (0, True), f"{name} is written")
        self.expect.that(file.stat().st_size < FILE_BYTES_MAX, f"{name} is small",
                         file.stat().st_size)
        self.expect.equal(list(self.folder.glob(f"{name}.*")), [], "and nothing beside it")
        return file, report

    def open(self, file, ready="main h1"):
        self.browser.collect()
        self.browser.requests.clear()
        self.browser.messages.clear()
        self.browser.driver.get(file.as_uri())
        return self.browser.soon(ready)

    def check_alone(self, file, what):
        """Nothing but the file was asked for, nothing was refused, and nothing complained."""
        self.browser.collect()
        asked = [url for url in self.browser.requests if not url.startswith(("about:", "chrome:"))]
        self.expect.equal(set(asked), {file.as_uri()}, f"{what}: requests")
        self.expect.equal(self.browser.run("return window.violations"), [], f"{what}: violations")
        loud = [row["message"] for row in self.browser.messages if row["level"] == "SEVERE"]
        self.expect.equal(loud, [], f"{what}: the console's complaints")

    def check_box(self, what):
        """Nothing leaves the window, at both widths and in both schemes."""
        for width in WIDTHS:
            grounds = []
            for dark in (False, True):
                self.browser.size(width, 844, dark)
                time.sleep(0.3)
                wide, ground = self.browser.run(
                    "return [document.documentElement.scrollWidth,"
                    " getComputedStyle(document.body).backgroundColor]")
                grounds.append(ground)
                self.expect.that(wide <= width, f"{what} fits into {width} pixels", wide)
            self.expect.that(grounds[0] != grounds[1], f"{what} follows the scheme", grounds)
        self.browser.size(1440, 900)

    def look_at_sample(self):
        expect, browser = self.expect, self.browser
        file, report = self.write(support.SAMPLE, "sample.html")
        title = self.open(file)
        expect.equal(title, [report["verdict"]["summary"]], "the verdict stands first")
        expect.equal(browser.soon(".suspects strong")[:1], [report["nodes"][0]["node"]],
                     "the first suspect")
        roots = [event for event in report["events"] if event["role"] != "consequence"]
        expect.equal(len(browser.text(".events .event")), len(roots), "events that show it")
        expect.equal(browser.text(".events .event pre.raw"),
                     [event["examples"][0]["text"] for event in roots if event["examples"]],
                     "with their lines")
        expect.that("root" in browser.text(".story .role"), "they stand in order of time")
        expect.equal(browser.text(".fault .do"), [report["faults"][0]["fix"]], "what to do")
        for never in (".fresh", ".past", ".tell", ".top nav", ".crumbs a", ".failure", ".loading"):
            expect.equal(browser.text(never), [], f"{never} is not offered")
        self.look_at_lines(roots)
        self.look_at_map()
        self.use_keys()
        self.check_box("the sample")
        self.check_alone(file, "the sample")
        return file, report

    def look_at_lines(self, roots):
        from selenium.webdriver.common.keys import Keys
        expect, browser = self.expect, self.browser
        button = browser.driver.find_element("css selector", ".events .event button.quiet")
        button.send_keys(Keys.ENTER)
        shown = browser.soon(".panel .log code")
        want = [one["text"] for one in roots[0]["examples"]]
        expect.equal(sorted(shown), sorted(want), "all lines of an event open by a key")
        expect.equal(browser.text(".panel select"), [], "without a context, which nobody can read")
        browser.type(".panel input", "no such text")
        expect.that(browser.soon(".panel .empty"), "and can be searched")
        browser.press(".panel input", Keys.ESCAPE)
        live.wait_for(lambda: not browser.text(".panel"))
        expect.equal(browser.text(".panel"), [], "Escape closes them")

    def look_at_map(self):
        from selenium.webdriver.common.keys import Keys
        expect, browser = self.expect, self.browser
        name = browser.run("return document.querySelector('canvas.map')?.ariaLabel")
        expect.that("node-02 is suspected most" in (name or ""), "the map is there", name)
        browser.press("canvas.map", Keys.ARROW_LEFT, Keys.ENTER)
        why = browser.soon(".whybox h3")
        expect.that(why and why[0].startswith("node-02"), "a cell says why", why)
        browser.press(".whybox", Keys.ESCAPE)
        self.look_at_terms()
        browser.press("canvas.map", "+", "+", "-", "0")
        browser.click(".map-tools .chips:nth-of-type(2) button:last-of-type")
        pressed = browser.soon(".map-tools button[aria-pressed=true]")
        expect.that("first sign" in pressed, "its rows can be ordered", pressed)

    def look_at_terms(self):
        """The cells in which a suspect stands out have the terms of their score."""
        from selenium.webdriver.common.keys import Keys
        expect, browser = self.expect, self.browser
        what = ".map-tools [aria-label='What the map shows'] button"
        browser.click(what + ":nth-of-type(2)")
        terms = []
        for _ in range(60):
            browser.press("canvas.map", Keys.ARROW_LEFT, Keys.ENTER)
            browser.soon(".whybox h3")
            terms = terms or browser.text(".whybox .terms li")
            browser.press(".whybox", Keys.ESCAPE)
            if terms:
                break
        expect.that(terms and "rank" in terms[0] and "usually" in terms[0],
                    "a cell of a suspect has its terms", terms)
        expect.equal(browser.text(".whybox"), [], "Escape closes it")
        browser.click(what + ":nth-of-type(1)")
        browser.soon(what + "[aria-pressed=true]", lambda texts: texts == ["lines"])

    def use_keys(self):
        from selenium.webdriver.common.keys import Keys
        expect, browser = self.expect, self.browser
        browser.press("body", "?")
        keys = browser.soon(".dialog dd")
        expect.that("times local or UTC" in keys and "fleet" not in keys, "? lists the keys", keys)
        browser.press("body", Keys.ESCAPE)
        live.wait_for(lambda: not browser.text(".dialog"))
        zones = [browser.text(".top .tools button")[0]]
        browser.press("body", "t")
        time.sleep(0.2)
        zones.append(browser.text(".top .tools button")[0])
        browser.press("body", "t", "g", "f")
        expect.equal(sorted(zones), ["UTC", "local"], "t changes the zone")
        expect.that(browser.text("main h1"), "and nothing leads away")
        folds = browser.driver.find_elements("css selector", "main button.fold")
        for fold in folds:
            fold.send_keys(Keys.ENTER)
        expect.that("since" in "".join(browser.soon("main pre.text")), "the text report is there")
        expect.equal(browser.run("return document.querySelectorAll("
                                 "'main [aria-expanded=false]').length"), 0, "all opens by keys")

    def look_without_scripts(self, file, report):
        expect, browser = self.expect, self.browser
        browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
        browser.driver.get(file.as_uri())
        time.sleep(0.5)
        text = self.text_without_scripts()
        head = f"{report['verdict']['state'].upper()} · {report['job']['id']} · "
        expect.that(text.startswith(head) and "l4.report" not in text,
                    "without scripts the text report is read", text[:200])
        self.take_picture("plain", 1440, False)
        self.take_picture("plain", 390, True)
        browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})

    def text_without_scripts(self):
        """What is seen, as the browser's tree for screen readers has it."""
        tree = self.browser.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})
        return "\n".join(node["name"]["value"] for node in tree["nodes"]
                         if node.get("role", {}).get("value") == "StaticText")

    def look_at_hostile(self):
        expect, browser = self.expect, self.browser
        logs = self.folder / "hostile"
        page.write_hostile(logs)
        for log in logs.rglob("stdout.log"):
            with log.open("a", encoding="utf-8") as to:
                to.write(f"{page.stamp(time.time() - 5)} ERROR </script><script>window.hacked=1"
                         f"</script><!-- RuntimeError: token {SECRET} was refused\n")
        file, report = self.write(logs, "hostile.html")
        raw = file.read_text(encoding="utf-8")
        expect.that(SECRET not in raw and "[redacted]" in raw, "secrets are blotted out")
        expect.equal([sign for sign in (page.RIGHT_TO_LEFT, "\x1b", "\x07") if sign in raw], [],
                     "signs that act on a terminal or turn text")
        self.open(file)
        expect.equal(browser.text(".crumbs b"), [page.HOSTILE_JOB], "its name is shown as text")
        shown = "\n".join(browser.text(".events, .story"))
        expect.that("</script>" in shown, "lines are shown as text", shown[:400])
        made = browser.run("return [window.hacked ?? null, document.scripts.length,"
                           " document.querySelectorAll('#app script, #app img, #app svg').length]")
        expect.equal(made, [None, 2, 0], "scripts that ran, script elements, elements made")
        self.check_box("the hostile job")
        self.check_alone(file, "the hostile job")
        self.check_policy()
        self.take_pictures("hostile")
        self.look_without_scripts(file, report)
        expect.equal(browser.run("return window.hacked ?? null"), None, "nothing ran")

    def check_policy(self):
        """What a script would have to do to send something away is refused by the browser."""
        self.browser.run("""
            new Image().src = "http://127.0.0.1:9/x.png";
            fetch("http://127.0.0.1:9/x").catch(() => undefined);
            const made = document.createElement("script");
            try { made.text = "window.hacked = 1"; document.body.append(made); } catch {}""")
        wanted = {"img-src", "connect-src", "require-trusted-types-for"}
        live.wait_for(lambda: wanted <= self.refused(), 5.0)
        self.expect.equal(wanted - self.refused(), set(), "what the policy refuses")
        self.expect.equal(self.browser.run("return window.hacked ?? null"), None, "nothing ran")

    def refused(self):
        return {one.split()[0] for one in self.browser.run("return window.violations")}

    def check_outputs(self, report):
        """The file of a kept report; what cannot be written is said before the logs are read."""
        expect, folder = self.expect, self.folder
        kept = folder / "kept.json"
        kept.write_text(json.dumps(report), encoding="utf-8")
        file = folder / "kept.html"
        file.write_text("what stood there", encoding="utf-8")
        done = self.l4.run("show", kept, "--html", file)
        expect.equal(done.status, 0, "show writes it, too")
        self.open(file)
        expect.equal(self.browser.text("main h1"), [report["verdict"]["summary"]], "of this report")
        expect.equal(self.browser.text("canvas.map"), [], "without a map, which it does not hold")
        self.check_alone(file, "a kept report")
        expect.equal(self.browser.text(".near li"), [], "a known fault stands alone")
        kept.write_text(json.dumps({**report, "faults": []}), encoding="utf-8")
        expect.equal(self.l4.run("show", kept, "--html", file).status, 0, "without a known fault")
        self.open(file)
        near = self.browser.soon(".near li")
        expect.that(len(near) == 3 and "shares" in near[0], "the nearest ones stand there", near)
        expect.equal(self.browser.text(".near a"), [], "without links, which would lead nowhere")
        self.check_alone(file, "an unexplained report")
        for command in (["diagnose", support.SAMPLE], ["show", kept]):
            done = self.l4.run(*command, "--html", folder / "none" / "x.html")
            expect.equal(done.status, 2, f"{command[0]}: a folder that is not there")
            expect.that("x.html" in done.stderr, "is named", done.stderr)
        done = self.l4.run("show", kept, "--html", file, "--diff", kept)
        expect.equal(done.status, 2, "a comparison is no report")
        expect.that("--html" in done.stderr, "which is said", done.stderr)

    def look_at_running(self):
        """The file of a job that is watched: its map and its lines are asked for."""
        expect, browser = self.expect, self.browser
        home = self.folder / "place"
        home.mkdir()
        place = local.Place(home, self.l4)
        try:
            place.start(place.logs)
            expect.that(live.wait_for(place.is_ready), "l4 local starts")
            local.write_again(place.logs)
            failed = live.wait_for(lambda: place.jobs().get("job-1005", {}).get("incident"))
            expect.that(failed, "the job has failed")
            incident = place.jobs()["job-1005"]["incident"]
            for command in (["snapshot", "job-1005"], ["incidents", incident]):
                file = self.folder / f"{command[0]}.html"
                done = place.ask(*command, "--html", file)
                expect.equal((done.returncode, done.stderr), (0, ""), f"{command[0]} writes it")
                self.open(file)
                expect.that("rank 4 (node-02)" in browser.text("main h1")[0], "with the verdict")
                expect.that(browser.text(".events .event pre.raw"), "and lines of the nodes")
                name = browser.run("return document.querySelector('canvas.map')?.ariaLabel")
                expect.that("node-02" in (name or ""), "and the map", name)
                data = json.loads(browser.run(
                    "return document.getElementById('l4-handed').textContent"))
                expect.that(any(one["node"] == "node-02" and one["lines"] + one["laps"]
                                for one in data["terms"]), "with terms of its cells", data["terms"])
                expect.that(data["near"]["faults"], "and the nearest known faults")
                self.check_alone(file, command[0])
        finally:
            place.end()

    def look_at_one_node(self):
        """A job whose node has no peers: what cannot be compared has no map."""
        log = self.folder / "single" / "node-00" / "rank0.log"
        log.parent.mkdir(parents=True)
        log.write_text("".join(f"iteration {i}/1000 | loss {3 - i / 1000:.3f} | elapsed time per "
                               f"iteration (ms): {1000 + i % 7}.0\n" for i in range(200)))
        file, _ = self.write(log.parent.parent, "single.html")
        self.open(file)
        shown = self.browser.text(".map-tools [aria-label='What the map shows'] button")
        self.expect.equal(shown, ["iterations", "phases"], "maps of a job of one node")
        self.check_alone(file, "a job of one node")

    def take_pictures(self, name):
        for width in WIDTHS:
            for dark in (False, True):
                self.take_picture(name, width, dark)
        self.browser.size(1440, 900)

    def take_picture(self, name, width, dark):
        if not self.pictures:
            return
        self.pictures.mkdir(parents=True, exist_ok=True)
        self.browser.size(width, 900, dark)
        self.browser.driver.execute_cdp_cmd("Input.dispatchKeyEvent", {
            "type": "keyDown", "key": "Home", "windowsVirtualKeyCode": 36})
        time.sleep(0.7)
        tall = self.browser.driver.execute_cdp_cmd("Page.getLayoutMetrics", {})
        tall = int(tall["cssContentSize"]["height"])
        self.browser.size(width, min(max(900, tall), 4000), dark)
        time.sleep(0.7)
        self.browser.driver.save_screenshot(
            str(self.pictures / f"file-{name}-{width}-{'dark' if dark else 'light'}.png"))


def play(expect, l4, webdriver, folder, pictures):
    browser = browsing.Browser(*webdriver, folder)
    try:
        test = Test(expect, l4, browser, folder, pictures)
        file, report = test.look_at_sample()
        test.take_pictures("sample")
        test.look_without_scripts(file, report)
        test.look_at_hostile()
        test.look_at_one_node()
        test.check_outputs(report)
        test.look_at_running()
    finally:
        browser.close()


def main():
    webdriver = browsing.need_browser()
    pictures = None
    if len(sys.argv) == 4 and sys.argv[2] == "--screenshots":
        pictures = pathlib.Path(sys.argv[3])
        del sys.argv[2:]
    l4, expect = support.start(sys.argv, "one_file")
    with tempfile.TemporaryDirectory(prefix="l4-one-file-") as name:
        play(expect, l4, webdriver, pathlib.Path(name), pictures)
    return expect.end()


if __name__ == "__main__":
    sys.exit(main())
