#!/usr/bin/env python3
"""The page in a browser: signing in, a job that breaks meanwhile, hostile text, a broken stream.

usage: page.py L4 [--screenshots FOLDER]

Headless Chromium shows the page of a real `l4 local` that follows the sample as it is written
again, and a job whose name and lines are hostile. Skipped where Chromium, its driver or
python3-selenium is missing. With --screenshots each view is also kept as a picture, at both widths
and in both schemes.
"""
import base64
import json
import os
import pathlib
import sys
import tempfile
import time
import urllib.parse
import urllib.request

import browsing
import live
import local
import made_map
import page_acts
import page_map
import support

HOSTILE_JOB = "<img src=x onerror=window.hacked=1>"
RIGHT_TO_LEFT = "\u202e"
HOSTILE = [
    "<script>window.hacked=1</script>",
    '"><svg onload=window.hacked=1>',
    "<img src=x onerror=window.hacked=1>",
    "javascript:window.hacked=1",
    "{{constructor.constructor('window.hacked=1')()}}",
    f"a name turned round: {RIGHT_TO_LEFT}gol.exe",
    "\x1b]0;title\x07\x1b[2J a terminal sequence",
]
LONG_LINE = "x" * 90_000
# Answers with so many rows, made of the first one, in pages as the aggregator makes them: more than
# one page of each list.
LONG = {"jobs": 1_100, "incidents": 450}
MANY = """
const really = window.fetch;
window.fetch = async (address, init) => {
  const url = new URL(address);
  const list = /\\/api\\/v1\\/(jobs|incidents)$/.exec(url.pathname)?.[1];
  if (!list || url.searchParams.get("open")) return really(address, init);
  const first = (await (await really(url.origin + url.pathname, init)).json())[list][0];
  const from = Number(url.searchParams.get("after") ?? 0);
  const to = Math.min(LONG[list], from + Number(url.searchParams.get("count") ?? 1_000));
  const rows = [];
  for (let i = from; i < to; i += 1)
    rows.push({ ...first, id: `many-${i}`, ...list === "jobs" ? { incident: null } : {
      status: "resolved", job: `many-${i}`,
      opened: new Date(1_800_000_000_000 - i * 1_000).toISOString() } });
  return new Response(JSON.stringify({ [list]: rows, next: to < LONG[list] ? String(to) : null }),
                      { headers: { "Content-Type": "application/json" } });
};
""".replace("LONG", json.dumps(LONG))
# What a browser shows later than the API is bounded by 2 s where the machine is idle.
IS_BUSY = support.SANITIZED or os.getloadavg()[0] > (os.cpu_count() or 1)
LATER_MAX_S = 15.0 if IS_BUSY else 2.0


def write_hostile(logs):
    """A job of two nodes that trains and fails, with hostile text wherever text can stand."""
    for node in ("node-00", "node-01<b>"):
        log = logs / node / f"{HOSTILE_JOB}__3t3v3xx" / "attempt_0" / "0" / "stdout.log"
        log.parent.mkdir(parents=True)
        now = time.time()
        rows = [f"{stamp(now - 40 + i)} INFO iteration {i}/1000 loss 2.{i:02d} "
                f"elapsed time per iteration (ms): 1000.0" for i in range(30)]
        rows += [f"{stamp(now - 9)} INFO {text}" for text in HOSTILE]
        rows += [f"{stamp(now - 8)} INFO {LONG_LINE}"]
        if node != "node-00":
            rows += [f"{stamp(now - 7)} ERROR RuntimeError: CUDA error: {HOSTILE[2]} {HOSTILE[5]}",
                     f"{stamp(now - 7)} ERROR {HOSTILE[0]} fatal: Segmentation fault (core dumped)"]
        log.write_text("\n".join(rows) + "\n", encoding="utf-8")


def stamp(at):
    return time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(at)) + f".{int(at % 1 * 1000):03d}"


class Test(page_map.Map, page_acts.Acts, page_acts.Users, page_acts.Windows,
           page_acts.Paper, page_acts.Places, page_acts.Axe):
    def __init__(self, expect, browser, base, token, pictures):
        self.expect, self.browser, self.base, self.token = expect, browser, base, token
        self.pictures, self.rules = pictures, None

    def open(self, path, ready="main h1"):
        self.browser.driver.get(self.base + path)
        return self.browser.soon(ready)

    def shows(self, selector, wanted, what):
        """In the end the selector finds these texts, and no others."""
        texts = self.browser.soon(selector, lambda found: found == wanted)
        return self.expect.equal(texts, wanted, what)

    def api(self, path):
        request = urllib.request.Request(f"{self.base}/api/v1/{path}",
                                         headers={"Authorization": f"Bearer {self.token}"})
        with urllib.request.urlopen(request, timeout=20) as got:
            return json.load(got)

    def sign_in(self):
        expect, browser = self.expect, self.browser
        self.open("/")
        self.shows("main h1", ["Sign in"], "the page without a token")
        browser.type("#token", "l4_wrong")
        browser.click("form button")
        said = browser.soon("#said", lambda texts: any(texts))
        expect.that("not known" in said[0], "a wrong token is refused in words", said)
        browser.type("#token", self.token)
        browser.click("form button")
        self.shows("main h1", ["No job is watched"], "the empty fleet")
        kept = browser.run("return document.cookie + JSON.stringify(localStorage) +"
                           " JSON.stringify(sessionStorage) + location.href")
        expect.that(self.token not in kept and "l4_session" not in kept,
                    "scripts see neither token nor cookie", kept)
        cookies = browser.cookies()
        expect.that(len(cookies) == 1 and cookies[0]["httpOnly"]
                    and cookies[0]["sameSite"] == "Strict", "the cookie is a closed one", cookies)
        self.open("/")
        self.shows("main h1", ["No job is watched"], "a second visit is signed in")
        sizes = live.wait_for(lambda: browser.run(
            "return performance.getEntriesByType('resource')"
            ".filter((one) => one.name.includes('/assets/')).map((one) => one.transferSize)"))
        expect.that(sizes and not any(sizes), "a second visit loads no asset again", sizes)
        expect.equal(len(self.scripts()), 1, "the first view needs the first script alone")

    def scripts(self):
        """Addresses of the scripts that this document has loaded."""
        return self.browser.run("return performance.getEntriesByType('resource')"
                                ".map((one) => one.name).filter((one) => one.endsWith('.js'))")

    def watch_it_break(self, logs):
        """An alert appears without a reload, soon after the API knows of it."""
        expect, browser = self.expect, self.browser
        expect.equal(browser.soon(".fresh.live"), ["live"], "the stream is open")
        browser.run("window.sameDocument = true")
        known = [None]

        def is_known():
            rows = self.api("jobs")["jobs"]
            return any(row["id"] == "job-1005" and row["incident"] for row in rows)

        local.write_again(logs)
        expect.that(live.wait_for(is_known), "the API knows that the job has crashed")
        known[0] = time.monotonic()
        shown = browser.soon(".job.bad strong", lambda texts: "job-1005" in texts)
        later = time.monotonic() - known[0]
        expect.that("job-1005" in shown, "the fleet shows the crashed job", shown)
        expect.that(later <= LATER_MAX_S, f"no later than {LATER_MAX_S} s after the API", later)
        expect.that(browser.run("return window.sameDocument"), "without a reload")
        sentence = browser.soon(".job.bad .sentence",
                                lambda texts: any("SIGKILL" in text for text in texts))
        expect.that(any("SIGKILL" in text for text in sentence), "with its sentence", sentence)
        print(f"page: the crash is shown {later:.1f} s after the API knows of it")

    def look_at_job(self):
        expect, browser = self.expect, self.browser
        title = self.open("/jobs/job-1005")
        expect.that("rank 4 (node-02)" in title[0], "the verdict stands first", title)
        suspects = browser.soon(".suspects strong")
        expect.equal(suspects[:1], ["node-02"], "the first suspect")
        expect.that(browser.soon(".fault .do"), "what to do is said")
        colours = []
        live.wait_for(lambda: colours.append(self.colours_of("canvas.map")) or colours[-1] > 4)
        expect.that(colours[-1] > 4, "the map is painted", colours[-1:])
        name = self.name_of_map("node-02 is suspected most")
        expect.that("node-02 is suspected most" in name, "and is told to who sees none", name)
        from selenium.webdriver.common.keys import Keys
        browser.press("canvas.map", Keys.ARROW_LEFT, Keys.ENTER)
        why = browser.soon(".whybox h3")
        expect.that(why and why[0].startswith("node-02"), "a cell says why", why)
        browser.click(".whybox > button")
        lines = browser.soon(".panel .log code", lambda texts: len(texts) > 3)
        expect.that(len(lines) > 3, "raw lines are read on the node", browser.text(".panel")[:1])
        browser.type(".panel input", "exitcode: -9")
        found = browser.soon(".panel .log code", lambda texts: len(texts) < len(lines))
        expect.that(found is not None and len(found) < len(lines), "and searched", len(found))
        browser.press(".panel input", Keys.ESCAPE)
        self.shows(".panel", [], "Escape closes them")
        browser.press("body", "?")
        expect.that(browser.soon(".dialog kbd"), "? lists the keys")
        browser.press("body", Keys.ESCAPE)

    def name_of_map(self, part):
        """What the map is called to who does not see it, once this is in it."""
        def name():
            return self.browser.run(
                "return document.querySelector('canvas.map')?.ariaLabel ?? ''")

        live.wait_for(lambda: part in name())
        return name()

    def look_at_incident(self):
        expect, browser = self.expect, self.browser
        incident = self.api("incidents?job=job-1005")["incidents"][0]["id"]
        self.open(f"/incidents/{incident}")
        roles = browser.soon(".story .role", lambda texts: "alert" in texts and "root" in texts)
        expect.that("root" in roles and "alert" in roles, "the story has cause and alert", roles)
        browser.collect()
        whole = [url for url in browser.requests if url.endswith((f"/v1/incidents/{incident}",
                                                                  "/job-1005/snapshot"))]
        expect.equal(whole, [], "no view has asked for a whole report, which may have 5 MB")
        accused = live.wait_for(lambda: browser.run(
            "return document.querySelector('.accused svg')?.ariaLabel")) or ""
        expect.that(" named 10.77.0.12" in accused,
                    "who accused whom is a graph, and is told in words", accused)
        signs = browser.text(".story li.sign")
        expect.that(not any("apex" in text for text in signs),
                    "a line that has no part in it is folded", signs)
        compared = browser.soon("section[aria-label='Compared with a healthy run'] .note",
                                lambda texts: any("No healthy" in text for text in texts))
        expect.that(compared and "No healthy run is kept" in compared[0],
                    "without a healthy run that is said", compared)
        other = browser.soon("section[aria-label='What else node-02 did'] .note",
                             lambda texts: any("no other" in text for text in texts))
        expect.that(other and "no other incident" in other[0], "what else the node did", other)
        browser.click(".story button.quiet")
        expect.that(browser.soon(".panel .log li.hit code"), "a sentence opens its lines",
                    browser.text(".panel")[:1])
        for path, ready in (("/incidents", "td a"), ("/agents", "td b"),
                            ("/faults?q=sigkill", "td a")):
            self.open(path)
            expect.that(browser.soon(ready), f"{path} has rows")
        for path, said, advice in (("/alerts", "Nobody is alerted", "[alerts]"),
                                   ("/pool", "No healthy run is kept", "l4 outcome")):
            self.open(path)
            self.shows("main h1", [said], f"{path} without rows")
            expect.that(advice in " ".join(browser.text(".empty")), f"{path} says what to do",
                        browser.text(".empty"))
            expect.equal(len(self.scripts()), 2, f"{path} loads the second script")
        self.open("/incidents/none", ".failure")
        expect.that("there is no incident" in " ".join(browser.text(".failure")),
                    "an error is said", browser.text(".failure"))

    def look_at_near_faults(self):
        """Where no known fault fits, the nearest ones are shown, with the words that they share."""
        expect, browser = self.expect, self.browser
        incident = self.api("incidents?job=job-1005")["incidents"][0]["id"]
        near = self.api(f"incidents/{incident}/near_faults")["faults"]
        expect.that(near and all(one["shared"] for one in near)
                    and [one["likeness"] for one in near]
                    == sorted((one["likeness"] for one in near), reverse=True),
                    "the API has the nearest faults first, with what they share", near)
        self.open(f"/incidents/{incident}")
        browser.soon(".story .role")
        expect.equal(browser.text(".near li"), [], "a known fault stands alone")
        with made_map.Made(browser, made_map.answers(unexplained=True)):
            self.open(f"/incidents/{incident}")
            rows = browser.soon(".near li", lambda texts: len(texts) == len(near))
            expect.that(rows and near[0]["fault"]["title"] in rows[0]
                        and near[0]["shared"][0] in rows[0], "so has the page", rows)
            self.check_box("an incident without a known fault")

    def look_at_hostile(self, logs):
        expect, browser = self.expect, self.browser
        write_hostile(logs)

        def row():
            return next((one for one in self.api("jobs")["jobs"] if "<" in one["id"]), None)

        if not expect.that(live.wait_for(row), "the hostile job is watched"):
            return
        name = row()["id"]
        quoted = urllib.parse.quote(name, safe="")
        self.open("/")
        shown = browser.soon(".job strong", lambda texts: name in texts)
        expect.that(name in shown, "its name is shown as text", shown)
        self.open(f"/jobs/{quoted}")
        crumbs = browser.soon(".crumbs b", lambda texts: name in texts)
        expect.equal(crumbs[:1], [name], "also on its own page")
        for query in ({"node": "node-00"}, {"node": "node-01<b>"}):
            answer = self.api(f"jobs/{quoted}/lines?{urllib.parse.urlencode(query)}")
            expect.that(answer["lines"], f"lines of {query['node']} can be read", answer["missing"])
        self.open_lines()
        text = "\n".join(browser.soon(".panel .log code", lambda texts: any(
            "<script>" in one for one in texts)))
        expect.that("<script>window.hacked=1</script>" in text, "lines are shown as text",
                    text[:300])
        expect.that(RIGHT_TO_LEFT not in text and "‹U+202E›" in text,
                    "marks that turn text are seen")
        expect.that("\x1b" not in text, "terminal sequences are signs")
        self.check_box("hostile lines")

    def open_lines(self):
        """The raw lines of a node, by the map or the list of suspects."""
        from selenium.webdriver.common.keys import Keys
        browser = self.browser
        browser.soon("canvas.map, .suspects button")
        if browser.text(".suspects button"):
            browser.click(".suspects button")
        else:
            browser.press("canvas.map", Keys.ARROW_LEFT, Keys.ENTER)
            browser.soon(".whybox > button")
            browser.click(".whybox > button")
        browser.soon(".panel .log code")

    def check_box(self, what):
        """Nothing ran, and nothing leaves the window, at both widths."""
        for width in (1440, 390):
            self.browser.size(width, 844)
            time.sleep(0.3)
            live.wait_for(lambda at_most=width: self.browser.run(
                "return document.documentElement.scrollWidth") <= at_most, 10)
            wide, hacked, made = self.browser.run(
                "return [document.documentElement.scrollWidth, window.hacked ?? null,"
                " document.querySelectorAll('#app script, #app img, #app svg[onload]').length]")
            self.expect.that(wide <= width, f"{what} fit into {width} pixels", wide)
            self.expect.equal((hacked, made), (None, 0), f"{what}: scripts that ran, elements made")
        self.browser.size(1440, 900)

    def check_quiet(self, what):
        """No violation of the policy, no request elsewhere."""
        self.browser.collect()
        foreign = [url for url in self.browser.requests
                   if not url.startswith((self.base + "/", "data:", "chrome:", "about:"))]
        self.expect.equal(foreign, [], f"{what}: requests to other hosts")
        self.expect.that(all(self.token not in url for url in self.browser.requests),
                         "no address has the token")
        self.expect.equal(self.browser.run("return window.violations"), [], f"{what}: violations")
        # Answers such as 401 before signing in are expected; the browser reports each.
        loud = [row["message"] for row in self.browser.messages
                if row["level"] == "SEVERE" and "Failed to load resource" not in row["message"]]
        self.expect.equal(loud, [], f"{what}: the console's complaints")

    def views(self, incident):
        """Name and address of each view."""
        return {"fleet": "/", "job": "/jobs/job-1005", "incident": f"/incidents/{incident}",
                "incidents": "/incidents", "agents": "/agents", "alerts": "/alerts",
                "faults": "/faults?q=gloo", "fault": "/faults/oom_cgroup", "pool": "/pool"}

    def take_pictures(self):
        """Each view, at both widths, in both schemes."""
        incident = self.api("incidents?job=job-1005")["incidents"][0]["id"]
        self.pictures.mkdir(parents=True, exist_ok=True)
        views = {**self.views(incident), "maintenance": "/jobs/job-1005"}
        for name, path in views.items():
            for width in (1440, 390):
                for dark in (False, True):
                    self.browser.size(width, 900, dark)
                    self.open(path)
                    time.sleep(1.5)
                    if name == "maintenance":
                        self.browser.click("button.maintenance")
                    tall = self.browser.run("return document.documentElement.scrollHeight")
                    self.browser.size(width, min(max(900, tall), 3000), dark)
                    time.sleep(0.7)
                    self.take_picture(f"{name}-{width}-{'dark' if dark else 'light'}")
        self.browser.size(1440, 900)

    def take_picture(self, name):
        """As PNG to look at, and as WebP for docs/."""
        for form, more in (("png", {}), ("webp", {"quality": 25})):
            data = self.browser.driver.execute_cdp_cmd("Page.captureScreenshot",
                                                       {"format": form, **more})["data"]
            (self.pictures / f"{name}.{form}").write_bytes(base64.b64decode(data))

    def look_at_long_lists(self):
        """Lists of more than a thousand rows: all pages are read, the rows are made as one
        scrolls."""
        expect, browser = self.expect, self.browser
        script = browser.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument",
                                                {"source": MANY})
        count = "return document.querySelectorAll(arguments[0]).length"
        for path, row, name in (("/", ".job", ".job strong"), ("/incidents", "tbody tr", "td a")):
            self.open(path)
            browser.soon(row)
            own = 0 if path == "/" else 1  # the open incident
            long = LONG["jobs" if path == "/" else "incidents"]
            made = browser.run(count, row)
            expect.that(100 <= made <= 300, f"{path}: rows that are made at first", made)

            def scrolled():
                browser.run("scrollTo(0, document.documentElement.scrollHeight)")
                return browser.run(count, row) == long + own

            until = time.monotonic() + 60
            while not scrolled() and time.monotonic() < until:
                time.sleep(0.05)
            expect.equal(browser.run(count, row), long + own, f"{path}: rows at the end")
            expect.equal(set(browser.text(name)), {f"many-{i}" for i in range(long)} | (
                set() if path == "/" else {"job-1005"}), f"{path}: each once")
            self.shows("button.fold", [], f"{path}: nothing is left")
        browser.type("#search", f"many-{LONG['incidents'] - 1}")
        self.shows("td a", [f"many-{LONG['incidents'] - 1}"], "an incident is found")
        link = browser.run("return location.pathname + location.search")
        expect.that(f"q=many-{LONG['incidents'] - 1}" in link, "the search is in the address", link)
        self.open(link)
        self.shows("td a", [f"many-{LONG['incidents'] - 1}"],
                   "its link finds it, too, among all that are older")
        browser.type("#search", "no such incident")
        expect.that(browser.soon(".empty button"), "that none matches is said")
        self.open("/")
        browser.soon(".job")
        expect.that(f"{LONG['jobs']}" in " ".join(browser.text(".chips button")), "all are counted",
                    browser.text(".chips button"))
        row = self.api("jobs")["jobs"][0]
        expect.that(len(row["course_ms"]) > 3 and 0 < row["confidence"] <= 1,
                    "a job's row has its course, and how sure its state is", row)
        expect.that(len(browser.soon(".job .pace svg")) >= 100, "the pace is there at once",
                    browser.text(".job .pace"))
        expect.that("%" in browser.soon(".job .for abbr")[0], "so is how sure the state is",
                    browser.text(".job .for")[:1])
        browser.type("#search", f"many-{LONG['jobs'] - 1}")
        self.shows(".job strong", [f"many-{LONG['jobs'] - 1}"], "the last one is found")
        browser.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", script)

    def look_at_fault(self):
        """A known fault lists the incidents in which it was named."""
        expect, browser = self.expect, self.browser
        row = self.api("incidents?job=job-1005")["incidents"][0]
        faults = self.api(f"incidents/{row['id']}")["report"]["faults"]
        if not expect.that(faults, "the incident has a known fault"):
            return
        same = self.api(f"incidents?fault={faults[0]['id']}")["incidents"]
        expect.equal([one["id"] for one in same], [row["id"]], "the API finds it by its fault")
        self.open(f"/faults/{faults[0]['id']}")
        self.shows("td.name a", ["job-1005"], "the fault shows it")
        self.open("/faults/oom_cgroup")
        said = browser.soon("section .note",
                            lambda texts: any("no incident" in one for one in texts))
        expect.that(said, "a fault that never happened says so", browser.text("section .note"))

    def look_at_sinks(self):
        """What each sink was sent: first what waits, with the reason."""
        expect, browser = self.expect, self.browser
        now = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())
        row = {"sink": "chat", "event": "opened", "incident": None, "job": HOSTILE_JOB,
               "text": f"crashed: {HOSTILE[0]}", "created": now, "tried": now, "next": None,
               "failures": 0, "taken": 1, "trouble": None}
        sinks = [{"sink": "chat", "kind": "slack", "tried": now, "trouble": "answered 503",
                  "posted": 1, "failures": 3, "dropped": 0, "waiting": 1}]
        alerts = [{**row, "id": "chat.1", "status": "taken"},
                  {**row, "id": "chat.2", "status": "waiting", "job": "job-2", "next": now,
                   "failures": 3, "taken": 0, "trouble": "answered 503"}]
        expect.equal(self.api("alerts"), {"alerts": [], "next": None}, "alerts without a sink")
        with made_map.Made(browser, made_map.answers(status={"sinks": sinks},
                                                     alerts={"alerts": alerts, "next": None})):
            self.open("/alerts")
            rows = browser.soon("#sent tbody tr", lambda texts: len(texts) == 2)
            expect.that(rows and "job-2" in rows[0] and "failed 3 times" in rows[0]
                        and "answered 503" in rows[0], "what waits stands first, with its reason",
                        rows)
            expect.that(len(rows) == 2 and HOSTILE[0] in rows[1] and "taken" in rows[1],
                        "then what was taken", rows)
            browser.type("#search", "job-2")
            left = browser.soon("#sent tbody tr", lambda texts: len(texts) == 1)
            expect.equal(len(left), 1, "alerts are searched")
            self.check_box("sinks")

    def limit(self, l4, state):
        """With a token of other jobs nothing is shown of this one, and nothing of the site."""
        expect, browser = self.expect, self.browser
        made = l4.run("keys", "token", "team", "--jobs", "team-*", "--dir", state)
        self.open("/")
        browser.type("#token", made.stdout.decode().strip())

        def is_in():  # the aggregator looks at the file once a second
            browser.run("document.querySelector('form button')?.click()")
            time.sleep(0.5)
            return browser.text("main h1") not in ([], ["Sign in"])

        live.wait_for(is_in)
        self.shows("main h1", ["No job is watched"], "the fleet of other jobs")
        browser.soon(".title .note", lambda texts: any("team-*" in text for text in texts))
        expect.that("team-*" in " ".join(browser.text(".title .note")), "it says why",
                    browser.text(".title .note"))
        expect.that("your token" in " ".join(browser.soon(".empty")), "and what to do",
                    browser.text(".empty"))
        self.shows(".top nav a", ["Fleet", "Incidents", "Faults", "Pool"],
                   "what is of the site is not offered")
        expect.equal(browser.text(".health"), [], "nor shown")
        for path, said in (("/jobs/job-1005", "there is no job job-1005"),
                           ("/agents", "limited to the jobs team-*")):
            self.open(path, ".failure")
            expect.that(said in " ".join(browser.text(".failure")), f"{path} is refused in words",
                        browser.text(".failure"))
        self.check_box("a limited token")

    def sign_out(self):
        self.browser.click(".top .who")
        self.shows("main h1", ["Sign in"], "signing out asks for a token again")
        if self.rules:
            self.run_axe(self.rules, "signing in")
            self.rules = None
        live.wait_for(lambda: not self.browser.cookies(), 10)
        self.expect.equal(self.browser.cookies(), [], "and leaves no cookie")

    def check_logs(self, state, program):
        """What was signed in with stands in no file but that of the token, and was not printed."""
        files = [path for path in state.rglob("*") if path.is_file() and path.stat().st_size]
        token = self.token.encode()
        holds = [str(path) for path in files
                 if path.name not in ("token", "tokens") and token in path.read_bytes()]
        self.expect.that(len(files) > 2 and not holds and self.token not in str(program.said()),
                         "no log and no file of the state has the token", holds)


def play(expect, l4, webdriver, folder, pictures):
    place = local.Place(folder, l4)
    browser = None
    try:
        program = place.start(place.logs)
        if not expect.that(live.wait_for(place.is_ready), "l4 local starts", program.said()):
            return
        state = next(place.state.glob("l4/local/*"))
        base = (state / "client.toml").read_text().split('"')[1]
        token = (state / "token").read_text().strip()
        browser = browsing.Browser(*webdriver, folder)
        test = Test(expect, browser, base, token, pictures)
        test.sign_in()
        test.watch_it_break(place.logs)
        test.look_at_users()
        test.look_at_job()
        test.check_box("the job")
        test.look_at_links()
        test.look_at_linked_cell()
        test.look_at_terms()
        test.look_at_rows_and_marks()
        test.look_at_touch()
        test.look_at_incident()
        test.look_at_near_faults()
        test.confirm()
        test.acknowledge()
        test.maintain()
        test.look_behind_proxy()
        test.look_at_past()
        test.look_at_fault()
        test.look_at_sinks()
        test.look_at_large()
        test.look_at_long_lists()
        test.share_stream()
        test.poll_without_stream()
        test.print_on_paper()
        test.check_axe()
        if pictures:
            test.take_pictures()
        test.look_at_hostile(place.logs)
        test.check_quiet("all views")
        test.sign_out()
        test.limit(l4, state)
        test.sign_out()
        browser.type("#token", token)
        browser.click("form button")
        browser.soon(".job strong")
        test.check_logs(state, program)
        program = test.check_restart(place, program)
        test.check_broken(program)
    finally:
        if browser:
            browser.close()
        place.end()


def main():
    webdriver = browsing.need_browser()
    pictures = None
    if len(sys.argv) == 4 and sys.argv[2] == "--screenshots":
        pictures = pathlib.Path(sys.argv[3])
        del sys.argv[2:]
    l4, expect = support.start(sys.argv, "page")
    with tempfile.TemporaryDirectory(prefix="l4-page-") as name:
        play(expect, l4, webdriver, pathlib.Path(name), pictures)
    return expect.end()


if __name__ == "__main__":
    sys.exit(main())
