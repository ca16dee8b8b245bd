#!/usr/bin/env python3
"""The types of the page are those of the schemas; where TypeScript is there, sources keep to them.

usage: page_types_test.py
"""
import importlib.machinery
import importlib.util
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def generator():
    """tools/page_types as a module."""
    loader = importlib.machinery.SourceFileLoader("page_types", str(ROOT / "tools" / "page_types"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("page_types", loader))
    loader.exec_module(module)
    return module


def main():
    failures = 0
    made = generator()
    if made.text() != made.OUT.read_text(encoding="utf-8"):
        print("FAILED web/src/api_types.ts differs from the schemas: run tools/page_types")
        failures += 1
    if shutil.which("tsc"):
        done = subprocess.run(["tsc", "-p", str(ROOT / "web" / "tsconfig.json")],
                              capture_output=True, text=True, check=False, timeout=300)
        if done.returncode != 0:
            print(f"FAILED the types of web/:\n{done.stdout[:4000]}")
            failures += 1
    else:
        print("page_types: sources are not checked, because node-typescript is missing")
    print(f"page_types: {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
