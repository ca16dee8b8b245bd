#!/usr/bin/env python3
"""tools/evaluation/fitting.py: finds known weights, keeps signs, refuses what is too little."""
import pathlib
import random
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools" / "evaluation"))
sys.dont_write_bytecode = True

import fitting  # noqa: E402

TRUE = {"base": 0.4, "margin": 2.0, "many": -0.6}
ROWS = {"base": {"sign": "any", "weight": 0.0}, "margin": {"sign": "up", "weight": 0.0},
        "many": {"sign": "down", "weight": 0.0}, "unseen": {"sign": "any", "weight": 1.25}}
TEXT = "".join(f'[confidence.node.{name}]\nsign = "{row["sign"]}"\nweight = {row["weight"]}\n'
               f'origin = "by hand"\n\n' for name, row in ROWS.items())


def made(count, seed=1, weights=None, sources=40):
    """Claims that are right as often as the weights say; all were said with .5."""
    rng, out = random.Random(seed), []
    for _ in range(count):
        grounds = {"base": 1.0, "margin": rng.random(), "many": rng.random() * 3}
        odds = sum((weights or TRUE)[k] * v for k, v in grounds.items())
        out.append(fitting.Claim(0.5, rng.random() < fitting.sigmoid(odds), grounds,
                                 f"text {rng.randrange(sources)}"))
    return out


class Fitting(unittest.TestCase):
    def table(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = pathlib.Path(folder.name, "scoring.toml")
        path.write_text(TEXT, encoding="utf-8")
        return fitting.Table(path)

    def test_weights_are_found(self):
        found = fitting.fit(ROWS, made(4000), 1.0)
        for kind, weight in TRUE.items():
            self.assertAlmostEqual(found[kind], weight, delta=0.3)

    def test_signs_hold(self):
        found = fitting.fit(ROWS, made(3000, weights={"base": 0, "margin": -2, "many": 1}), 1.0)
        self.assertEqual(found["margin"], 0)
        self.assertEqual(found["many"], 0)

    def test_bounded_claims_do_not_count(self):
        rows = {**ROWS, "many": {"sign": "down", "weight": 0.0, "most": 0.5}}
        self.assertEqual(fitting.fit(rows, made(500), 1.0), {})
        self.assertLessEqual(fitting.confidence(rows, {**TRUE, "many": 0}, made(1)[0]), 0.5)

    def test_no_source_is_judged_by_a_fit_that_saw_it(self):
        # One text is always wrong: only a fit that saw it could know.
        claims = [fitting.Claim(0.5, k % 16 > 0, {"base": 1.0, f"of {k % 16}": 1.0},
                                f"text {k % 16}") for k in range(320)]
        rows = {"base": ROWS["base"], **{f"of {k}": {"sign": "any", "weight": 0.0}
                                         for k in range(16)}}
        judged = fitting.held_out(rows, claims, 0.1, 1)
        self.assertGreater(max(said for said, right in judged if not right), 0.9)

    def test_table_is_written_row_by_row(self):
        table = self.table()
        self.assertTrue(fitting.run(table, {"node": made(800)}, 1.0, 1, "made claims"))
        table.write()
        rows = fitting.Table(table.path).rows["node"]
        self.assertGreater(rows["margin"]["weight"], 1)
        self.assertIn("800 claims", rows["margin"]["origin"])
        self.assertEqual(rows["unseen"], {"sign": "any", "weight": 1.25, "origin": "by hand"})

    def test_too_few_or_not_better_keeps_the_table(self):
        known = [fitting.Claim(fitting.confidence(ROWS, TRUE, c), c.right, c.grounds, c.source)
                 for c in made(400)]
        for claims in (made(60), made(400, sources=3), known):
            table = self.table()
            self.assertFalse(fitting.run(table, {"node": claims}, 1.0, 1, "made claims"))
            self.assertEqual(table.text, TEXT)


if __name__ == "__main__":
    unittest.main()
