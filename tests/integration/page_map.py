"""The map in a browser: links to what it shows, the past, fingers, a job of 2,000 nodes.

A part of page.py, whose Test has `expect`, `browser`, `open` and `api`.
"""
import time
import urllib.parse

import live
import made_map


def touch(browser, steps):
    """Fingers on the screen: where each of them is, step by step."""
    def send(kind, points):
        browser.driver.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [
            {"x": x, "y": y, "id": i} for i, (x, y) in enumerate(points)]})

    send("touchStart", steps[0])
    for points in steps[1:]:
        send("touchMove", points)
    send("touchEnd", [])


class Map:
    def look_at_links(self):
        """The address holds what the map shows and which raw lines are open; a report that is kept
        has a link of its own."""
        from selenium.webdriver.common.keys import Keys
        expect, browser = self.expect, self.browser
        self.open("/jobs/job-1005?map=ranks&order=name")
        browser.soon("canvas.map")
        course = self.api("jobs/job-1005/scores?what=ranks")["course"]
        expect.that(len(course) == 1 and any(course[0]["mean_ms"]), "iterations have a course",
                    course)
        browser.press("canvas.map", "+", "+")
        query = {}

        def zoomed():
            address = urllib.parse.urlparse(browser.run("return location.href"))
            query.update(urllib.parse.parse_qs(address.query))
            return "from" in query

        live.wait_for(zoomed)
        expect.that(query.get("map") == ["ranks"] and query.get("order") == ["name"]
                    and int(query["to"][0]) > int(query["from"][0]) > 0,
                    "the address holds the zoom", query)
        browser.collect()
        browser.requests.clear()
        self.open(browser.run("return location.pathname + location.search"))
        browser.soon("canvas.map")

        def asked():
            browser.collect()
            return any("/scores?" in url and f"from={query['from'][0]}" in url
                       for url in browser.requests)

        expect.that(live.wait_for(asked, 5), "and its link shows the same", browser.requests)
        browser.press("canvas.map", "0")
        live.wait_for(lambda: "from=" not in browser.run("return location.search"))
        expect.that("from=" not in browser.run("return location.search"), "0 shows all again")
        self.open("/jobs/job-1005?lines_node=node-02")
        expect.that(browser.soon(".panel .log code"), "a link opens raw lines")
        browser.press(".panel input", Keys.ESCAPE)
        expect.equal(self.search_left(), "", "and closing them leaves none")
        self.open("/", ".job a.cover")
        browser.click(".job a.cover")  # the second script comes from elsewhere than this address
        expect.that(browser.soon("button.keep"), "parts of a view come after going there by a link",
                    browser.text("main .warn"))
        browser.click("button.keep")
        kept = browser.soon(".duties a")
        rows = self.api("jobs/job-1005/snapshots")["snapshots"]
        expect.that(kept and any(row["why"] == "asked" for row in rows), "a report is kept", rows)
        link = browser.run("return document.querySelector('.duties a').href")
        expect.that(urllib.parse.quote(rows[0]["at"], safe="") in link, "and has a link", link)

    def search_left(self):
        """What the address asks for, once no raw lines are open."""
        live.wait_for(lambda: not self.browser.text(".panel")
                      and not self.browser.run("return location.search"))
        return self.browser.run("return location.search")

    def look_at_terms(self):
        """A cell that is open says what its score is made of, beside what the peers have."""
        expect, browser = self.expect, self.browser
        matrix = self.api("jobs/job-1005/scores?what=ranks&rows=100")
        at = matrix["columns"][-1]
        query = urllib.parse.urlencode({"map": "ranks", "cell": "node-02", "cell_at": at})
        self.open(f"/jobs/job-1005?{query}")
        rows = browser.soon(".whybox .terms li")
        asked = self.api(f"jobs/job-1005/scores/terms?what=ranks&width=1000&node=node-02&at={at}")
        expect.that(rows and f"rank {asked['laps'][0]['rank']}" in rows[0] and "usually" in rows[0]
                    and "of other nodes" in rows[0],
                    "an iteration has its duration, the usual one and the peers'", rows)
        expect.equal(len(rows), len(asked["laps"]), "for each rank of the node")
        facts = browser.soon(".whybox .facts dd")
        expect.that("middle one of" in " ".join(facts), "the node stands beside its peers", facts)
        self.check_box("the laps of a cell")
        matrix = self.api("jobs/job-1005/scores?what=nodes")
        at = matrix["columns"][-1]
        terms = self.api(f"jobs/job-1005/scores/terms?node=node-02&at={at}")
        total = sum(term["nats"] for term in terms["lines"]) + terms["left_out_score"]
        expect.that(abs(total - terms["score"]) < 0.01, "terms of lines sum up to the score", terms)
        self.look_at_terms_of_lines()

    def look_at_terms_of_lines(self):
        """Lines of a cell, made so that each kind is there, with hostile text."""
        expect, browser = self.expect, self.browser
        term = {"template_id": "a", "template": "<img src=x onerror=window.hacked=1> <*>",
                "level": "error", "departure": "new", "count": 3, "expected": 0,
                "expected_by": "past", "largest_before": 0, "peers_median": 0, "nodes_alike": 1,
                "strength": 2.5, "nats": 11.5}
        made = {"score": 15.0, "nodes": 100, "lines": [term, {
            **term, "template_id": "b", "template": "lease renewed", "departure": "fewer",
            "count": 1, "expected": 24.5, "expected_by": "peers", "peers_median": 25,
            "nodes_alike": 2, "strength": 0.8, "nats": 3.0}]}
        with made_map.Made(browser, made_map.answers(nodes=100, terms=made)):
            self.open("/jobs/job-1005?order=name")
            browser.soon("canvas.map")
            name, place = self.first_loud_cell()
            query = urllib.parse.urlencode({"cell": name, "cell_at": place})
            self.open(f"/jobs/job-1005?{query}")
            rows = browser.soon(".whybox .terms li", lambda texts: len(texts) == 2)
            expect.that(rows and "11.5 nats" in rows[0]
                        and "3 times here, not once on the" in rows[0]
                        and "1 of 100 does now" in rows[0] and term["template"][:9] in rows[0],
                        "a new line has what it adds, and the count of the peers", rows)
            expect.that("25 times on the middle" in rows[1] and "would be 25;" in rows[1]
                        and "1 other node" in rows[1], "so has one that is missing", rows)
            said = " ".join(browser.text(".whybox .terms > .note"))
            expect.that("15.0 nats are the sum" in said and "2 more lines with 0.5 nats" in said,
                        "what is left out is said", said)
            self.check_box("the terms of a score")

    def first_loud_cell(self):
        """Name and time of a cell of the made map with a score."""
        return self.browser.driver.execute_async_script("""
            const done = arguments[0];
            fetch(new URL("/api/v1/jobs/job-1005/scores?what=nodes&rows=100&width=100",
                          location.href).href)
              .then((got) => got.json()).then((matrix) => {
                for (const row of matrix.rows) {
                  const at = [...atob(row.cells)].findIndex((one) => one.charCodeAt(0) > 0);
                  if (at >= 0) return done([row.node, matrix.columns[at]]);
                }
                return done(["", ""]);
              });""")

    def look_at_linked_cell(self):
        """The cell whose "why" is open stands in the address; back and forward go from one to the
        next; a cell that is not there is said so."""
        from selenium.webdriver.common.keys import Keys
        expect, browser = self.expect, self.browser
        self.open("/jobs/job-1005?order=name")
        browser.soon("canvas.map")
        browser.press("canvas.map", Keys.ARROW_LEFT, Keys.ENTER)
        first = browser.soon(".whybox h3")
        link = browser.run("return location.pathname + location.search")
        query = urllib.parse.parse_qs(urllib.parse.urlparse(link).query)
        expect.that(query.get("cell") == ["node-02"] and query.get("cell_at")
                    and query.get("map") == ["nodes"], "the address names the cell", link)
        self.click_map(0.97)
        second = browser.soon(".whybox h3", lambda texts: texts and texts != first)
        expect.that(second and second != first, "a click opens another one", second)
        browser.click(".whybox header button")
        live.wait_for(lambda: not browser.text(".whybox"))
        expect.that("cell" not in browser.run("return location.search"), "and closing ends it")
        for where, shown in (("back", second), ("back", first), ("back", []), ("forward", first)):
            browser.run(f"history.{where}()")
            got = browser.soon(".whybox h3", lambda texts: texts == shown)
            expect.equal(got, shown, f"{where} in the browser")
        self.open(link)
        expect.equal(browser.soon(".whybox h3"), first, "the link opens the same cell")
        expect.equal(browser.text(".map-tools [aria-pressed=true]"), ["lines", "name"],
                     "in the same map")
        gone = {"cell=gone%3Cb%3E&cell_at=2020-01-01T00:00:00.000Z": "gone<b>",
                "cell=node-02&cell_at=2020-01-01T00:00:00.000Z": "2020-01-01",
                "cell=node-02&cell_at=nothing&from=x&to=y&rows=-3&top=z&phase=q": "node-02",
                "map=ranks&cell=node-02&cell_at=99999": "iteration 99,999",
                "from=1999-01-01T00:00:00Z&to=1999-01-02T00:00:00Z&cell=no&cell_at=5": "no"}
        for asked, said in gone.items():
            self.open(f"/jobs/job-1005?{asked}")
            text = browser.soon(".map-box .box p", lambda texts: any("leads to" in one
                                                                     for one in texts))
            expect.that(text and said in text[0] and "not any more" in text[0],
                        f"{asked}: that it is gone is said", text)
            expect.that(live.wait_for(lambda: self.colours_of("canvas.map") > 4),
                        f"{asked}: the map stands")
        self.check_box("a cell that is gone")
        browser.click(".map-box .box button")
        live.wait_for(lambda: not browser.text(".map-box .box"))
        expect.that("cell" not in browser.run("return location.search"), "and can be closed")

    def look_at_rows_and_marks(self):
        """The rows that are seen stand in the address; a mark opens its lines, or its incident; the
        search in lines and their context stand in the address, too."""
        from selenium.webdriver.common.keys import Keys
        expect, browser = self.expect, self.browser
        with made_map.Made(browser, made_map.answers(nodes=100)):
            self.open("/jobs/job-1005?order=name")
            browser.soon("canvas.map")
            browser.press("canvas.map", "i", "i")
            live.wait_for(lambda: "rows=" in browser.run("return location.search"))
            query = urllib.parse.parse_qs(browser.run("return location.search.slice(1)"))
            expect.that(int(query["rows"][0]) < 60 and query["top"][0], "rows in the address",
                        query)
            self.open(f"/jobs/job-1005?{urllib.parse.urlencode(query, True)}")
            browser.soon("canvas.map")
            time.sleep(0.8)
            expect.equal(urllib.parse.parse_qs(browser.run("return location.search.slice(1)")),
                         query, "its link shows the same rows")
            browser.press("canvas.map", "o", "o", "o")
            live.wait_for(lambda: "rows=" not in browser.run("return location.search"))
            expect.that("rows=" not in browser.run("return location.search"), "o shows all again")
        self.open("/jobs/job-1005")
        browser.soon("canvas.map")
        said = self.find_mark("root")
        if expect.that("root" in said and "ERROR" in said, "a mark says what it is", said):
            lines = browser.soon(".panel .log li.hit code")
            expect.that(lines, "and opens its lines")
        browser.type(".panel input", "exitcode")
        browser.run("""const choice = document.querySelector('.panel select');
            choice.value = "20";
            choice.dispatchEvent(new Event("change", { bubbles: true }));""")
        link = browser.run("return location.pathname + location.search")
        expect.that("lines_q=exitcode" in link and "lines_context=20" in link,
                    "search and context stand in the address", link)
        self.open(link)
        browser.soon(".panel .log code")
        expect.equal(browser.run("""return [document.querySelector('.panel input').value,
                     document.querySelector('.panel select').value];"""), ["exitcode", "20"],
                     "and its link shows the same")
        browser.press(".panel input", Keys.ESCAPE)
        expect.equal(self.search_left(), "", "closing them leaves none")
        said = self.find_mark("incident")
        expect.that("crashed" in said, "a bar says what it is", said)
        story = browser.soon(".story .role")
        expect.that(story and "/incidents/" in browser.run("return location.pathname"),
                    "and opens the incident", story)

    def find_mark(self, word, timeout_s=15.0):
        """Goes along the lanes below the map to what is told by this word, and clicks on it. What
        is not there yet comes: a slow machine shows the map before its marks, and moves it."""
        def mouse(kind, x, y):
            self.browser.driver.execute_cdp_cmd("Input.dispatchMouseEvent", {
                "type": kind, "x": x, "y": y, "button": "left", "clickCount": 1,
                "buttons": int(kind != "mouseMoved")})

        def told(x, y):
            mouse("mouseMoved", x, y)
            return " ".join(self.browser.text(".readout"))

        until = time.monotonic() + timeout_s
        while time.monotonic() < until:
            left, top, width, height = self.browser.run("""
                const canvas = document.querySelector("canvas.map");
                canvas.scrollIntoView({ block: "center" });
                const { left, top, width, height } = canvas.getBoundingClientRect();
                return [left, top, width, height];""")
            for y in (top + height - 31, top + height - 10):
                for x in range(int(left + width), int(left), -6):
                    said = told(x, y)
                    if not said.startswith(word):
                        continue
                    time.sleep(0.1)  # the words may still be those of the place before
                    if told(x, y) == said:
                        mouse("mousePressed", x, y)
                        mouse("mouseReleased", x, y)
                        return said
        return ""

    def click_map(self, across):
        """In the row that stands on top, at this part of the axis."""
        x, y = self.browser.run("""
            const canvas = document.querySelector("canvas.map");
            canvas.scrollIntoView({ block: "center" });
            const { left, top, width } = canvas.getBoundingClientRect();
            return [left + 180 + (width - 200) * arguments[0], top + 36];""", across)
        for kind in ("mousePressed", "mouseReleased"):
            self.browser.driver.execute_cdp_cmd("Input.dispatchMouseEvent", {
                "type": kind, "x": x, "y": y, "button": "left", "buttons": 1, "clickCount": 1})

    def shown_part(self):
        """Begin and end of the part of the axis that the address names."""
        query = urllib.parse.parse_qs(self.browser.run("return location.search.slice(1)"))
        return [int(query[name][0]) for name in ("from", "to") if name in query]

    def look_at_touch(self):
        """On a phone one finger moves the map, two zoom, a tap says why; up and down the page
        moves."""
        expect, browser = self.expect, self.browser
        browser.size(390, 844)
        browser.driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled",
                                       {"enabled": True, "maxTouchPoints": 5})
        self.open("/jobs/job-1005?map=ranks")
        browser.soon("canvas.map")
        in_sight = """
            const canvas = document.querySelector("canvas.map");
            canvas.scrollIntoView({ block: "center" });
            const { left, top, width } = canvas.getBoundingClientRect();
            return [left, top + 36, width];"""
        left, top, wide = browser.run(in_sight)
        middle = left + wide / 2

        def moved(before):
            live.wait_for(lambda: self.shown_part() not in (before, []))
            return self.shown_part()

        touch(browser, [[(middle - 20 - 4 * i, top), (middle + 20 + 4 * i, top + i)]
                        for i in range(20)])
        near = moved([])
        whole = browser.run("return document.querySelector('canvas.map').ariaLabel")
        if not expect.that(len(near) == 2, "two fingers that part zoom in", (near, whole)):
            return
        touch(browser, [[(middle + 6 * i, top + i / 4)] for i in range(20)])
        past = moved(near)
        expect.that(past[0] < near[0] and abs(past[1] - past[0] - near[1] + near[0]) <= 2,
                    "one finger moves it to what was before", (near, past))
        touch(browser, [[(middle - 90 + 3 * i, top), (middle + 90 - 3 * i, top)]
                        for i in range(20)])
        far = moved(past)
        expect.that(not far or far[1] - far[0] > past[1] - past[0],
                    "two that come together zoom out", (past, far))
        expect.equal(browser.text(".whybox"), [], "none of it opens a cell")
        at = browser.run("return scrollY")
        touch(browser, [[(middle, top - 8 * i)] for i in range(20)])
        live.wait_for(lambda: browser.run("return scrollY") > at)
        expect.that(browser.run("return scrollY") > at, "one finger up moves the page")
        _, top, _ = browser.run(in_sight)
        touch(browser, [[(middle, top)]])
        expect.that(browser.soon(".whybox h3"), "a tap says why", (top, self.shown_part()))
        browser.driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": False})
        browser.size(1440, 900)

    def colours_of(self, selector):
        return self.browser.run("""
            const canvas = document.querySelector(arguments[0]);
            if (!canvas || !canvas.width) return 0;
            const context = canvas.getContext("2d");
            const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
            const found = new Set();
            for (let i = 0; i < data.length; i += 28)
              found.add(data[i] << 16 | data[i + 1] << 8 | data[i + 2]);
            return found.size;""", selector)

    def look_at_past(self):
        """A job as it stood: its report and map of then, kept reports; where no report of then can
        be made, what is known now up to then."""
        expect, browser = self.expect, self.browser
        opened = self.api("incidents?job=job-1005")["incidents"][0]["opened"]
        browser.collect()
        browser.requests.clear()
        self.open(f"/jobs/job-1005?at={opened}", ".verdict h1")
        expect.equal(browser.text(".past label"), ["As it stood"], "the slider says so")
        kept = browser.soon(".past .chips button")
        expect.that(kept, "reports that were kept can be chosen")
        browser.soon("canvas.map")
        browser.collect()
        asked = [urllib.parse.unquote(url) for url in browser.requests]
        expect.that(any(f"snapshot?at={opened}" in url for url in asked), "the report is of then",
                    asked)
        maps = [url for url in asked if "/scores?" in url]
        expect.that(any(f"to={opened}" in url for url in maps)
                    and all(f"to={opened}" in url or "&from=" in url for url in maps),
                    "the map ends then", maps)
        browser.click(".past .chips button")
        chosen = browser.soon(".past .chips button[aria-pressed=true]")
        expect.equal(len(chosen or []), 1, "a kept report is chosen")
        with made_map.Made(browser, made_map.answers(gone=True)):
            self.open(f"/jobs/job-1005?at={opened}", ".verdict h1")
            said = browser.soon(".failure")
            expect.that(said and "nothing is kept of that time" in said[0],
                        "without a report of then that is said", said)
            advice = browser.soon(".verdict .advice")
            expect.that(advice and "no report of this time" in advice[0],
                        "and what is shown instead", advice)
            expect.that(browser.soon("canvas.map"), "the map stands")
            browser.click(".past button:not(.chips button)")
            browser.soon(".past label", lambda texts: texts == ["The past"])
            self.shows(".failure", [], "and now is shown again")

    def frames_of_a_pan(self):
        """Draw calls of each frame while the map is moved; a slow machine shows fewer frames."""
        self.browser.run("drawn.frames.clear()")
        until = time.monotonic() + 30
        calls = []
        while len(calls) < 20 and time.monotonic() < until:
            made_map.pan(self.browser, 60)
            time.sleep(0.2)
            calls = self.browser.run("return [...drawn.frames.values()]")
        return calls

    def look_at_large(self):
        """2,000 nodes, flows: all rows are there, and no frame draws more than it may."""
        expect, browser = self.expect, self.browser
        lost = [{**row, "lost": True} for row in self.api("agents")["agents"]]
        made = made_map.answers(agents={"blind": False, "agents": lost, "next": None},
                                status={"agents_lost": len(lost)}, nodes=made_map.NODES,
                                events=made_map.EVENTS, iterations=made_map.ITERATIONS,
                                groups=made_map.GROUPS, steps=made_map.STEPS)
        with made_map.Made(browser, made_map.COUNTED, made):
            self.open("/jobs/job-1005")
            browser.soon("canvas.map")
            name = self.name_of_map("2,000 rows")
            expect.that(name.startswith("2,000 rows"), "each node has its row", name)
            expect.that("agent lost" in " ".join(browser.soon(".legend", lambda texts: any(
                "lost" in text for text in texts)) or []), "lost agents are marked")
            lanes = browser.soon(".flows h3", lambda texts: texts and "slow" in texts[0])
            expect.that(lanes and "1 step slow" in lanes[0], "groups have lanes", lanes)
            name = browser.run("return document.querySelector('canvas.lanes').ariaLabel")
            expect.equal(name, "6 groups of cards: data, pipeline parallel", "told in words, too")
            expect.that("10.0.0.4<b>" in " ".join(browser.text(".flows .why")),
                        "with what the network says", browser.text(".flows .why"))
            colours = []
            live.wait_for(lambda: colours.append(self.colours_of("canvas.lanes")) or
                          colours[-1] > 2)
            expect.that(colours[-1] > 2, "lanes are painted, usual and slow steps", colours[-1:])
            browser.run("""[...document.querySelectorAll('.map-tools button')]
                .find((one) => one.textContent === 'rack').click()""")
            browser.press("canvas.map", "m")
            expect.that(browser.run("return location.search.includes('order=group')"),
                        "nodes are grouped by what their names tell")
            for rows in (False, True):
                made_map.wheel(browser, 12, rows)
                time.sleep(0.8)  # columns of the part that is seen now are asked for
                calls = self.frames_of_a_pan()
                expect.that(len(calls) >= 20 and min(calls) >= 10, "the map moves", calls)
                expect.that(max(calls) <= made_map.DRAWS_MAX,
                            f"draw calls of a frame, at most {made_map.DRAWS_MAX}", max(calls))
                print(f"page: draw calls of a frame: at most {max(calls)} in {len(calls)} frames")
