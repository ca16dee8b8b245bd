#!/usr/bin/env python3
"""The image of the Containerfile, built with buildah from a root that debootstrap makes, so without
a registry: its three programs start there as its user.

usage: container.py

Takes root, debootstrap and buildah (apt), and some minutes.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "integration"))

import support  # noqa: E402

BASES = ("docker.io/library/debian:12", "docker.io/library/debian:12-slim")
MIRROR = "http://deb.debian.org/debian"


class Images:
    """A store of images of its own; nothing is mounted but by buildah's own chroot."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)

    def buildah(self, *words, **options):
        store = ["--storage-driver", "vfs", "--root", self.folder / "store", "--runroot",
                 self.folder / "run"]
        return subprocess.run(["buildah", *store, *words], check=False, text=True, **options)

    def base(self):
        """Debian 12 under both names that the Containerfile begins with."""
        root = self.folder / "debian"
        if subprocess.run(["debootstrap", "--variant=minbase", "bookworm", root, MIRROR],
                          check=False, stdout=subprocess.DEVNULL).returncode != 0:
            return False
        made = self.buildah("from", "scratch", capture_output=True).stdout.strip()
        done = [self.buildah("copy", "--quiet", made, root, "/", stdout=subprocess.DEVNULL),
                *(self.buildah("commit", "--quiet", made, name, stdout=subprocess.DEVNULL)
                  for name in BASES)]
        shutil.rmtree(root)
        return all(one.returncode == 0 for one in done)

    def build(self):
        return self.buildah("build", "--isolation", "chroot", "--pull-never", "--network", "host",
                            "--tag", "l4", "--file", support.ROOT / "Containerfile", support.ROOT)

    def run(self, *command):
        made = self.buildah("from", "--pull-never", "l4", capture_output=True).stdout.strip()
        done = self.buildah("run", "--isolation", "chroot", made, "--", *command,
                            capture_output=True)
        self.buildah("rm", made, capture_output=True)
        return done


def check():
    expect = support.Expectations("container")
    missing = [name for name in ("debootstrap", "buildah") if shutil.which(name) is None]
    if os.geteuid() != 0 or missing:
        print("container: takes root, debootstrap and buildah (apt-get install both); missing:",
              " and ".join(missing) or "root")
        return 1
    with tempfile.TemporaryDirectory(prefix="l4-image-") as folder:
        images = Images(folder)
        if not expect.that(images.base(), "a Debian 12 to begin with"):
            return expect.end()
        if not expect.equal(images.build().returncode, 0, "buildah build"):
            return expect.end()
        for program in ("l4", "l4-agent", "l4-aggregator"):
            done = images.run(program, "--version")
            expect.that(done.returncode == 0 and done.stdout.startswith(program),
                        f"{program} starts in the image", done.stdout + done.stderr)
        expect.equal(images.run("id", "-u").stdout.strip(), "7430", "the user of the image")
        done = images.run("l4", "faults", "list")
        expect.that(done.returncode == 0 and done.stdout, "the fault library is in the image",
                    done.stderr)
    return expect.end()


if __name__ == "__main__":
    sys.exit(check())
