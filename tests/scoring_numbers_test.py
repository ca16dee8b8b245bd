#!/usr/bin/env python3
"""scoring_numbers.py finds a number that is put in, and a table that differs from the structs."""
import pathlib
import shutil
import tempfile
import unittest

import scoring_numbers

ROOT = pathlib.Path(__file__).parents[1]
FOLDERS = ("aggregator/diagnose", "aggregator/detect", "aggregator/watch", "aggregator/numbers")


class ScoringNumbers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.root = pathlib.Path(cls.folder.name)
        for folder in FOLDERS:
            shutil.copytree(ROOT / folder, cls.root / folder)
        (cls.root / "config").mkdir()
        shutil.copy(ROOT / scoring_numbers.TABLE, cls.root / scoring_numbers.TABLE)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def changed(self, name, old, new, look):
        """Violations that `look` finds after a change of one file, which is undone."""
        path = self.root / name
        before = path.read_text(encoding="utf-8")
        self.assertIn(old, before)
        path.write_text(before.replace(old, new, 1), encoding="utf-8")
        try:
            check = scoring_numbers.Check(self.root)
            look(check)
            return check.found
        finally:
            path.write_text(before, encoding="utf-8")

    def put_in(self, code, name="aggregator/diagnose/verdict.cc"):
        return self.changed(name, "\nnamespace {\n", f"\nnamespace {{\n{code}\n",
                            lambda check: check.source(name, set()))

    def table(self, name, old, new, write=False):
        return self.changed(name, old, new, lambda check: check.table(write))

    def test_the_tree_is_as_it_should_be(self):
        check = scoring_numbers.Check(self.root)
        check.sources()
        check.table(False)
        self.assertEqual(check.found, [])

    def test_a_number_is_found(self):
        for code in ("bool f(double x) { return x > 0.75; }", "constexpr double kLimit = 2;",
                     "constexpr std::size_t kFew{1};", "constexpr Millis kWait{30'000};",
                     "int f() { return 3; }", "bool f(int x) { return x > 1e3; }",
                     "bool f(Millis x) { return x > std::chrono::minutes{5}; }",
                     "struct MoreOptions {\n  double ratio = 2;\n};"):
            found = self.put_in(code)
            self.assertEqual(len(found), 1, code)
            self.assertIn("aggregator/diagnose/verdict.cc:", found[0])
        self.assertEqual(len(self.put_in("bool f(int x) { return x > 7; }",
                                         "aggregator/watch/pace.cc")), 1)
        self.assertEqual(len(self.put_in("constexpr double kLimit =\n    7;",
                                         "aggregator/detect/hang/silence.cc")), 1)

    def test_what_does_not_decide_is_let_be(self):
        for code in ("std::array<int, 7> a;", "unsigned mask = 0xff;", "// after 7 lines",
                     'auto text = "7 lines";', "int f(int x) { return 2 * x + 1; }"):
            self.assertEqual(self.put_in(code), [], code)

    def test_an_exception_that_nothing_needs_is_told(self):
        found = self.changed("aggregator/diagnose/place_fault.cc", "kAsked = 4", "kAsked = 0",
                             lambda check: check.sources())
        self.assertEqual(len(found), 1)
        self.assertIn("any more", found[0])

    def test_table_and_structs_are_the_same(self):
        table, header = "config/scoring.toml", "aggregator/numbers/hang.h"
        for old, new in (("gaps = { value = 30,", "gaps = { value = 31,"),
                         ("gaps = { value = 30,", "gaps = { value = 3000,"),
                         ("gaps = { value = 30,", "gap = { value = 30,"),
                         ("# no shorter silence", "# no longer silence")):
            self.assertNotEqual(self.table(table, old, new), [], new)
        self.assertIn("says", self.table(header, "double gaps = 30", "double gaps = 29")[0])
        self.assertNotEqual(self.table(header, "  double gaps = 30;\n", ""), [])
        self.assertNotEqual(self.table("aggregator/numbers/rows.cc",
                                       'row<&Hang::gaps>("hang", "gaps"),', ""), [])

    def test_write_takes_the_table(self):
        before = (self.root / "aggregator/numbers/hang.h").read_text(encoding="utf-8")
        self.table("config/scoring.toml", "gaps = { value = 30,", "gaps = { value = 31.5,", True)
        written = self.root / "aggregator/numbers/hang.h"
        self.assertIn("double gaps = 31.5;", written.read_text(encoding="utf-8"))
        self.table("config/scoring.toml", "gaps", "gaps", True)
        self.assertEqual(written.read_text(encoding="utf-8"), before)


if __name__ == "__main__":
    unittest.main()
