"""What one does on the page, how its windows share a stream of events, and what it prints.

A part of page.py, whose Test has `expect`, `browser`, `base`, `token`, `open`, `api`, `check_box`.
"""
import base64
import http.client
import os
import pwd
import signal
import time
import urllib.parse
import urllib.request

import browsing
import live
import made_map
import prefixed


class Acts:
    """Confirming a fault, taking an incident, maintenance."""

    def confirm(self):
        """What a confirmed fault would be is shown before it is stored; then it is known."""
        expect, browser = self.expect, self.browser
        incident = self.api("incidents?job=job-1005")["incidents"][0]["id"]
        cause = "an operator killed it <b>by hand</b>"
        self.open(f"/incidents/{incident}")
        browser.soon("#cause")
        expect.that(browser.run("return document.querySelector('.tell button').disabled"),
                    "without cause and fix nothing can be stored")
        browser.type("#cause", cause)
        browser.type("#fix", "ask before")
        browser.click(".tell button[type=submit]")
        found = browser.soon(".found")
        expect.that(found and "This would be stored" in found[0] and browser.text(".found pre"),
                    "the pattern is shown first", found or browser.text(".section .warn"))
        expect.equal(self.api("faults?confirmed=true")["faults"], [], "nothing is stored yet")
        browser.click(".tell button.main")
        browser.soon(".found a")
        rows = self.api("faults?confirmed=true")["faults"]
        if not expect.that(len(rows) == 1, "it is stored", rows):
            return
        self.open(f"/faults/{rows[0]['id']}")
        text = " ".join(browser.soon("main section",
                                     lambda texts: "this incident" in " ".join(texts)))
        expect.that(cause in text and "this incident" in text, "and shown with its incident", text)
        request = urllib.request.Request(f"{self.base}/api/v1/faults/{rows[0]['id']}",
                                         method="DELETE",
                                         headers={"Authorization": f"Bearer {self.token}"})
        urllib.request.urlopen(request, timeout=20).close()

    def acknowledge(self):
        """Taking an incident, taking it back; everybody sees who has it."""
        expect, browser = self.expect, self.browser
        incident = self.api("incidents?job=job-1005")["incidents"][0]["id"]
        note = "looking at <b>node-02</b>"
        for back in (True, False):
            self.open(f"/incidents/{incident}")
            browser.soon("#note")
            browser.type("#note", note)
            browser.click(".duty form button")
            said = browser.soon(".duty.had p")
            expect.that(said and " has it since " in said[0] and note in said[0],
                        "the incident says who has it, since when and the note", said)
            row = self.api(f"incidents/{incident}")
            expect.that(row["acknowledged_by"] and row["acknowledged_note"] == note,
                        "and so does the API", {**row, "report": 0, "evidence": 0})
            if back:
                browser.click(".duty.had button")
                expect.that(browser.soon(".duty form button"), "it is taken back")
                expect.equal(self.api(f"incidents/{incident}")["acknowledged_by"], None,
                             "nobody has it")
        for path, badge in (("/", ".job .badge.had"), ("/incidents", "td .badge.had")):
            self.open(path)
            expect.that(browser.soon(badge), f"{path} shows who has it")

    def maintain(self):
        """A job and a node are silenced for a time, and it is ended before."""
        expect, browser = self.expect, self.browser
        self.open("/jobs/job-1005")
        browser.soon("button.maintenance")
        browser.click("button.maintenance")
        browser.soon(".dialog label")
        browser.type("#why", "a new switch")
        browser.type("#pattern", "nothing-*")
        browser.click(".dialog button.main")
        said = browser.soon(".dialog .warn")
        expect.that(said and "no job is called nothing-*" in said[0],
                    "a pattern that matches nothing is refused in words", said)
        self.check_box("the dialogue")
        browser.type("#pattern", "job-100*")
        browser.click(".dialog button.main")
        banner = browser.soon(".duty.silent p")
        expect.that(banner and "a new switch" in banner[0], "the job says that it is silent",
                    banner)
        self.shows(".dialog", [], "the dialogue is closed")
        rows = self.api("maintenance")["maintenance"]
        expect.equal([(row["kind"], row["pattern"], row["why"]) for row in rows],
                     [("job", "job-100*", "a new switch")], "the API has it")
        self.open("/")
        expect.that(browser.soon(".job .badge.silent"), "so does the fleet")
        self.open("/jobs/job-1005")
        browser.soon(".duty.silent button")
        browser.click(".duty.silent button")
        live.wait_for(lambda: not browser.text(".duty.silent"))
        expect.equal(self.api("maintenance")["maintenance"], [], "it is ended before its time")
        browser.soon(".suspects li.first button:nth-of-type(2)")
        browser.click(".suspects li.first button:nth-of-type(2)")
        browser.soon(".dialog label")
        browser.type("#why", "new cables")
        browser.click(".dialog button.main")
        banner = browser.soon(".duty.silent p")
        expect.that(banner and "node-02 in maintenance" in banner[0], "a node, too", banner)
        nodes = self.api("jobs/job-1005/nodes")["nodes"]
        expect.equal([row["node"] for row in nodes if row["silent_until"]], ["node-02"],
                     "only this one")
        self.check_box("a job in maintenance")


class Users:
    """Whose the jobs are."""

    def look_at_users(self):
        """A job has the owners of its logs; the jobs of one user are chosen, and the address
        holds whose."""
        expect, browser = self.expect, self.browser
        me = pwd.getpwuid(os.geteuid()).pw_name

        def users():
            return next(row["users"] for row in self.api("jobs")["jobs"]
                        if row["id"] == "job-1005")

        live.wait_for(lambda: users() == [me])
        expect.equal(users(), [me], "the API knows who owns the logs")
        self.open("/")
        self.shows(".job .user", [me], "the fleet says whose a job is")
        expect.equal(browser.text(".filter select"), [], "of one user nothing is to be chosen")
        expect.equal(len(browser.soon(".job.bad .pace svg")), 1, "its course is seen, too")
        hostile = "<img src=x onerror=window.hacked=1>"
        rows = [["alice"], ["bob"], ["alice", "bob", "carol"], [hostile], []]
        with made_map.Made(browser, made_map.answers(users=rows)):
            self.open("/")
            shown = browser.soon(".job .user", lambda texts: len(texts) == 4)
            expect.equal(shown, ["alice", "bob", "alice, bob and 1 more", hostile],
                         "users of each job")
            self.choose_user(hostile)
        live.wait_for(lambda: browser.text(".job strong") == ["job-1005"])

    def choose_user(self, hostile):
        from selenium.webdriver.support.ui import Select
        expect, browser = self.expect, self.browser
        choice = Select(browser.driver.find_element("css selector", ".filter select"))
        expect.equal(sorted(one.text for one in choice.options), sorted(
            ["all users", "alice (2)", "bob (2)", "carol (1)", f"{hostile} (1)"]), "the choice")
        choice.select_by_value("alice")
        self.shows(".job strong", ["job-0", "job-2"], "the jobs of one user")
        expect.that(browser.text(".chips button")[0].endswith("2"), "are counted",
                    browser.text(".chips button"))
        link = browser.run("return location.pathname + location.search")
        expect.equal(link, "/?user=alice", "the address holds whose")
        self.open(link)
        self.shows(".job strong", ["job-0", "job-2"], "its link shows the same")
        browser.type("#search", "carol")
        self.shows(".job strong", ["job-2"], "a user is found as text, too")
        self.check_box("the jobs of a user")
        self.open("/?user=nobody")
        expect.that("No job matches" in " ".join(browser.soon(".empty")),
                    "of a user without jobs that is said", browser.text(".empty"))
        browser.click(".empty button")
        live.wait_for(lambda: len(browser.text(".job strong")) == 5)
        expect.equal(len(browser.text(".job strong")), 5, "and all are a click away")


class Places:
    """Where the page stands, and that the aggregator goes while it is open."""

    def look_behind_proxy(self):
        """Below the prefix of a proxy all is as without: views, links, the stream, changes."""
        expect, browser = self.expect, self.browser
        browser.collect()
        before = list(browser.requests)
        with prefixed.Proxy(int(self.base.rsplit(":", 1)[1])) as proxy:
            browser.driver.get(proxy.base + "/jobs/job-1005")
            self.shows("main h1", ["Sign in"], "the cookie of one address is not another's")
            browser.type("#token", self.token)
            browser.click("form button")
            expect.that("rank 4 (node-02)" in "".join(browser.soon(".verdict h1")),
                        "a view by its link")
            expect.equal(browser.soon(".fresh.live", lambda texts: texts == ["live"]), ["live"],
                         "the stream is open")
            links = browser.run("return [...document.links].map((one) => one.pathname)")
            expect.that(links and all(one.startswith(prefixed.PREFIX + "/") for one in links),
                        "all links stay below the prefix", links)
            browser.click(".crumbs .right")
            browser.soon(".duty.had button")
            browser.click(".duty.had button")
            expect.that(browser.soon("#note"), "a change is not taken for another site's")
            browser.click(".duty form button")
            expect.that(browser.soon(".duty.had p"), "and back")
            browser.driver.get(proxy.base + "/pool")
            self.shows("main h1", ["No healthy run is kept"], "the second script is found")
            browser.click(".top .who")
            self.shows("main h1", ["Sign in"], "one signs out there alone")
            live.wait_for(lambda: len(browser.cookies()) == 1)
            expect.equal(len(browser.cookies()), 1, "and the other session stays")
            browser.driver.get("about:blank")
            browser.collect()
            beside = [url for url in browser.requests[len(before):]
                      if not url.startswith((proxy.base + "/", "data:", "about:", "chrome:"))]
            expect.equal(beside, [], "requests beside the prefix")
        browser.requests = before

    def check_broken(self, program):
        self.open("/")
        self.browser.soon(".fresh.live")
        program.end(signal.SIGKILL)
        said = self.browser.soon(".broken")
        self.expect.that(said and "old" in said[0], "a broken stream is said, and its age", said)
        self.expect.that(self.browser.text(".job strong"), "what was shown stays")

    def check_restart(self, place, program):
        """What is asked meanwhile is said not to come. Then one signs in again, since the
        aggregator has forgotten the cookie, and sees what one saw."""
        from selenium.webdriver.common.keys import Keys
        expect, browser = self.expect, self.browser
        at = self.api("jobs/job-1005/scores?what=ranks&rows=100")["columns"][-1]
        cell = urllib.parse.urlencode({"map": "ranks", "cell": "node-02", "cell_at": at})
        self.open(f"/jobs/job-1005?{cell}")
        rows = browser.soon(".whybox .terms li")
        expect.that(rows, "a cell is open")
        program.end(signal.SIGKILL)
        browser.press("canvas.map", Keys.ARROW_LEFT, Keys.ENTER)
        said = browser.soon(".whybox > .note",
                            lambda texts: any("cannot be shown" in text for text in texts))
        expect.that(any("the aggregator does not answer" in text for text in said),
                    "terms that do not come are said", said)
        expect.that(browser.soon(".broken"), "and that the stream is broken")
        expect.that(browser.text(".verdict h1"), "what was shown stays")
        link = browser.run("return location.href")
        program = place.start("--port", self.base.rsplit(":", 1)[1], place.logs)
        expect.that(live.wait_for(lambda: browser.text("main h1") == ["Sign in"]),
                    "the page asks for the token by itself", browser.text("main h1"))
        kept = next(place.state.glob("l4/local/*/token"))
        live.wait_for(lambda: kept.read_text().strip() not in ("", self.token))
        self.token = kept.read_text().strip()  # each run of l4 local has its own
        browser.type("#token", self.token)
        browser.click("form button")
        expect.that(browser.soon(".whybox .terms li"), "then the cell is open with its terms",
                    browser.text(".whybox"))
        expect.equal(browser.run("return location.href"), link, "at the same address")
        expect.equal(browser.soon(".fresh.live", lambda texts: texts == ["live"]), ["live"],
                     "and the stream is open")
        return program


class Windows:
    """Several windows of a browser."""

    def streams(self):
        """Streams of events that are open at the aggregator."""
        request = urllib.request.Request(f"{self.base}/metrics",
                                         headers={"Authorization": f"Bearer {self.token}"})
        with urllib.request.urlopen(request, timeout=20) as got:
            return int(next(row.split()[1] for row in got.read().decode().splitlines()
                            if row.startswith("l4_aggregator_event_streams ")))

    def share_stream(self):
        """Two windows of a browser have one stream; the other one reads when the first is hidden,
        and both are told what happens."""
        expect, driver = self.expect, self.browser.driver
        driver.get("about:blank")
        live.wait_for(lambda: self.streams() == 1)
        expect.equal(self.streams(), 1, "streams without a page: that of l4 local itself")
        first = driver.current_window_handle
        driver.switch_to.new_window("window")
        second = driver.current_window_handle
        for window in (first, second):
            driver.switch_to.window(window)
            self.open("/")
            expect.equal(self.browser.soon(".fresh.live"), ["live"], "each window is live")
            expect.equal(self.browser.run("return document.hidden"), False, "and visible")
        live.wait_for(lambda: self.streams() == 2)
        expect.equal(self.streams(), 2, "two windows have one stream")
        self.check_told(first, second)
        for leader, other in ((first, second), (second, first)):
            driver.switch_to.window(leader)
            self.hide(True)
            driver.switch_to.window(other)
            expect.equal(self.browser.soon(".fresh.live"), ["live"], "the other window goes on")
            live.wait_for(lambda: self.streams() == 2)
            expect.equal(self.streams(), 2, "by the one stream")
            driver.switch_to.window(leader)
            self.shows(".fresh.asleep", ["connecting"], "a hidden window has none")
            self.hide(False)
            expect.equal(self.browser.soon(".fresh.live"), ["live"], "until it is seen again")
        driver.switch_to.window(second)
        driver.close()
        driver.switch_to.window(first)
        live.wait_for(lambda: self.streams() == 2)
        expect.equal((self.browser.soon(".fresh.live"), self.streams()), (["live"], 2),
                     "a window that is closed leaves the stream to the other")

    def check_told(self, *windows):
        """Each window asks for the jobs again at once when an incident is acknowledged, and not
        only each 5 s."""
        incident = self.api("incidents?job=job-1005")["incidents"][0]["id"]
        for window in windows:
            self.browser.driver.switch_to.window(window)
            self.browser.run("performance.clearResourceTimings()")
        for method in ("DELETE", "POST") * 3:
            request = urllib.request.Request(
                f"{self.base}/api/v1/incidents/{incident}/acknowledgement", method=method,
                data=b"{}" if method == "POST" else None, headers={
                    "Authorization": f"Bearer {self.token}", "Content-Type": "application/json"})
            urllib.request.urlopen(request, timeout=20).close()
            time.sleep(0.6)

        def asked():
            return self.browser.run("return performance.getEntriesByType('resource').filter("
                                    "(one) => one.name.endsWith('/api/v1/jobs')).length")

        for window in windows:
            self.browser.driver.switch_to.window(window)
            live.wait_for(lambda: asked() >= 3, 4)
            self.expect.that(asked() >= 3, "a window is told of changes", asked())

    def poll_without_stream(self):
        """Where all streams are taken the page says so and asks again every few seconds; one that
        is free it takes."""
        expect, browser = self.expect, self.browser
        browser.driver.get("about:blank")
        taken, status = [], 200
        while status == 200 and len(taken) < 200:
            connection = http.client.HTTPConnection(self.base.rpartition("/")[2], timeout=20)
            connection.request("GET", "/api/v1/events",
                               headers={"Authorization": f"Bearer {self.token}"})
            taken.append(connection.getresponse())  # it holds the connection
            status = taken[-1].status
        expect.equal(status, 503, f"{len(taken)} streams are too many")
        self.open("/")
        self.shows(".fresh.polling", ["each few seconds"], "a page without a stream says so")

        def asked():
            return browser.run("return performance.getEntriesByType('resource').filter("
                               "(one) => one.name.endsWith('/api/v1/jobs')).length")

        before = asked()
        live.wait_for(lambda: asked() >= before + 2, 20)
        expect.that(asked() >= before + 2, "it asks again by itself", (before, asked()))
        expect.equal(browser.text(".broken"), [], "and nothing is broken")
        self.open("/jobs/job-1005")
        expect.that(browser.soon("canvas.map"), "a job is shown as ever")
        for stream in taken:
            stream.close()
        live.wait_for(lambda: self.streams() <= 1)
        browser.run("dispatchEvent(new Event('online'))")
        expect.equal(browser.soon(".fresh.live"), ["live"], "a stream that is free is taken")

    def hide(self, hidden):
        """As if another window lay over this one."""
        self.browser.run("""
            Object.defineProperty(document, "hidden", { configurable: true, value: arguments[0] });
            document.dispatchEvent(new Event("visibilitychange"));""", hidden)


class Paper:
    """What is printed of a view."""

    PRINTED = """
        const canvas = document.querySelector("canvas.map, canvas");
        if (canvas) canvas.style.height = "900px"; // as wide as a screen, and not laid out again
        const box = canvas?.getBoundingClientRect();
        const style = (one) => getComputedStyle(document.querySelector(one));
        return [style("body").backgroundColor, style("h1").color, style(".role").printColorAdjust,
                canvas && box.height / box.width / (canvas.height / canvas.width),
                canvas && style("canvas.map").filter];"""

    def print_on_paper(self):
        """Dark letters on white whatever the scheme, marks in colour, the map as it is wide."""
        incident = self.api("incidents?job=job-1005")["incidents"][0]["id"]
        for path, ready in ((f"/incidents/{incident}", ".story .role"),
                            ("/jobs/job-1005", "canvas.map")):
            for dark in (False, True):
                self.browser.size(760, 900, dark)
                self.open(path)
                self.browser.soon(ready)
                self.browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
                    "media": "print", "features": [{"name": "prefers-color-scheme",
                                                    "value": "dark" if dark else "light"}]})
                self.check_paper(f"{path} of a {'dark' if dark else 'light'} screen", dark)
                self.browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
        self.browser.size(1440, 900)

    def check_paper(self, what, dark):
        expect = self.expect
        ground, letters, marks, shape, filtered = self.browser.run(self.PRINTED)
        expect.equal((ground, letters, marks), ("rgb(255, 255, 255)", "rgb(23, 32, 43)", "exact"),
                     f"colours on paper: {what}")
        if shape is not None:
            expect.that(abs(shape - 1) < 0.02, f"the map keeps its shape: {what}", shape)
            expect.equal("invert" in filtered, dark, f"a dark map is turned: {what}")
        gone = self.browser.run("return [...document.querySelectorAll('button:not(.fold), .top')]"
                                ".filter((one) => one.getClientRects().length).length")
        expect.equal(gone, 0, f"what can only be clicked is left out: {what}")
        pages = base64.b64decode(self.browser.driver.execute_cdp_cmd("Page.printToPDF", {})["data"])
        expect.that(pages.startswith(b"%PDF"), f"it prints: {what}", pages[:8])


class Axe:
    """What keeps somebody from using a view, by the rules of axe-core."""

    def check_axe(self):
        """No view has what keeps somebody from using it, in both schemes, by the rules of axe."""
        rules = browsing.find_axe()
        if not rules:
            print("page: rules of axe are skipped: npm is missing, or has no axe-core")
            return
        incident = self.api("incidents?job=job-1005")["incidents"][0]["id"]
        for name, path in self.views(incident).items():
            self.open(path)
            self.browser.soon(".fresh.live")
            self.run_axe(rules, name)
        self.open("/jobs/job-1005")
        self.open_lines()
        self.run_axe(rules, "raw lines")
        self.browser.press("body", "?")
        self.browser.soon(".dialog kbd")
        self.run_axe(rules, "keys")
        self.open("/jobs/job-1005")
        self.browser.soon("button.maintenance")
        self.browser.click("button.maintenance")
        self.browser.soon(".dialog label")
        self.run_axe(rules, "maintenance")
        self.rules = rules

    def run_axe(self, rules, name):
        self.browser.run(rules)
        for dark in (False, True):
            self.browser.size(1440, 900, dark)
            time.sleep(0.2)  # colours fade
            found = self.browser.driver.execute_async_script("""
                const done = arguments[1];
                axe.run(document, { resultTypes: ["violations"], ...arguments[0]
                  ? { runOnly: ["color-contrast"] } : {} }).then((result) => done(
                  result.violations.filter((one) => /serious|critical/.test(one.impact)).map(
                    (one) => [one.id, one.nodes.slice(0, 3).map((node) =>
                      node.html.slice(0, 160) + " " + (node.any[0]?.message ?? ""))])),
                  (error) => done(String(error)));""", dark)  # only colours differ then
            self.expect.equal(found, [], f"axe: {name}, {'dark' if dark else 'light'}")
        self.browser.size(1440, 900)
