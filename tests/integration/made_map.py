"""Answers that are made in the browser: a map of 2,000 nodes, flows, sinks, a report that is gone;
and a count of what the map draws in a frame.

Used by page.py, which checks what is shown, and by tests/live/page_load.py, which measures it.
"""
import json
import pathlib

NODES, WINDOWS, WINDOW_MS = 2_000, 4_000, 10_000
DRAWS_MAX = 200  # calls of a canvas in a frame
EVENTS, ITERATIONS, GROUPS, STEPS = 600, 800, 6, 60

HERE = pathlib.Path(__file__).resolve().parent
COUNTED = (HERE / "counted_draws.js").read_text(encoding="utf-8")


def answers(**made):
    """The script that makes these answers; `made` says which (see made_answers.js)."""
    text = (HERE / "made_answers.js").read_text(encoding="utf-8")
    return text.replace("MADE", json.dumps({"window_ms": WINDOW_MS, **made}))


class Made:
    """While it lasts, each document that the browser opens has these scripts before its own."""

    def __init__(self, browser, *scripts):
        self.driver, self.scripts, self.names = browser.driver, scripts, []

    def __enter__(self):
        for text in self.scripts:
            self.names.append(self.driver.execute_cdp_cmd(
                "Page.addScriptToEvaluateOnNewDocument", {"source": text})["identifier"])

    def __exit__(self, *_):
        for name in self.names:
            self.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument",
                                        {"identifier": name})


def pan(browser, moves, by=6):
    """Drags the map sideways and back, a step a frame; the map must be zoomed in for it to move."""
    box = browser.run("""
        const canvas = document.querySelector("canvas.map");
        canvas.scrollIntoView({ block: "center" });
        const { left, top, width, height } = canvas.getBoundingClientRect();
        return [left + width * 0.6, top + height / 2];""")

    def mouse(kind, x, y):
        browser.driver.execute_cdp_cmd("Input.dispatchMouseEvent", {
            "type": kind, "x": x, "y": y, "button": "left", "buttons": 1, "clickCount": 1})

    x, y = box
    mouse("mousePressed", x, y)
    for i in range(moves):
        x += by if i // 25 % 2 else -by
        y += 1 if i // 10 % 2 else -1
        mouse("mouseMoved", x, y)
    mouse("mouseReleased", x, y)


def wheel(browser, turns, rows=False):
    """Zooms into the middle of the map, in time, or in rows, too."""
    x, y = browser.run("""
        const canvas = document.querySelector("canvas.map");
        canvas.scrollIntoView({ block: "center" });
        const { left, top, width, height } = canvas.getBoundingClientRect();
        return [left + width * 0.6, top + height / 2];""")
    for _ in range(turns):
        browser.driver.execute_cdp_cmd("Input.dispatchMouseEvent", {
            "type": "mouseWheel", "x": x, "y": y, "deltaX": 0, "deltaY": -60,
            "modifiers": 10 if rows else 2})
