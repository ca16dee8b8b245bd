#!/usr/bin/env python3
"""HTTPS of l4-aggregator, of l4 and of alerts, with certificates that openssl makes here.

usage: tls.py L4

Good ones, expired ones, those of another host or authority, keys that do not fit; a certificate
that is exchanged while the aggregator runs; clients that do not speak TLS, or stop in its middle.
"""
import contextlib
import http.server
import json
import os
import pathlib
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time

import aggregator
import support
from live import free_port, wait_for

SLOW = 4 if support.SANITIZED else 1
PAST = ("-startdate", "20200101000000Z", "-enddate", "20200201000000Z")


class Authority:
    """Signs certificates; its own is `pem`."""

    def __init__(self, folder, name):
        self.folder, self.name = folder / name, name
        self.folder.mkdir()
        self.pem, self.key = self.folder / "ca.pem", self.folder / "ca.key"
        openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", self.key, "-out",
                self.pem, "-days", "2", "-subj", f"/CN={name}")
        (self.folder / "ca.cnf").write_text(f"""[ca]
default_ca = own
[own]
database = {self.folder}/index
rand_serial = yes
new_certs_dir = {self.folder}
default_md = sha256
policy = any
[any]
commonName = supplied
""")
        (self.folder / "index").touch()

    def sign(self, name, host="IP:127.0.0.1", days=("-days", "1")):
        """Files of a certificate and its key."""
        base = self.folder / name
        openssl("req", "-newkey", "rsa:2048", "-nodes", "-keyout", f"{base}.key", "-out",
                f"{base}.csr", "-subj", f"/CN={name}")
        (self.folder / "more").write_text(f"subjectAltName = {host}\n")
        openssl("ca", "-batch", "-notext", "-config", self.folder / "ca.cnf", "-cert", self.pem,
                "-keyfile", self.key, "-in", f"{base}.csr", "-out", f"{base}.pem", "-extfile",
                self.folder / "more", *days)
        return pathlib.Path(f"{base}.pem"), pathlib.Path(f"{base}.key")


def openssl(*command):
    subprocess.run(["openssl", *map(str, command)], check=True, capture_output=True)


class HttpsServer:
    """Answers every request with an empty list of jobs, and keeps the posted bodies."""

    def __init__(self, certificate, key):
        posted = self.posted = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.say(b'{"jobs": [], "next": null}')

            def do_POST(self):
                posted.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                self.say(b"{}")

            def say(self, body):
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            def handle_error(self, *_):  # refused handshakes are what is tested
                pass

        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.port = self.server.server_address[1]
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()

    def close(self):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


class Site:
    """An aggregator's config over HTTPS in a folder; `certificate` and `key` are put there."""

    def __init__(self, build, folder):
        self.build, self.folder, self.process = build, folder, None
        self.wire, self.port = free_port(), free_port()
        self.url = f"https://127.0.0.1:{self.port}"
        self.config = folder / "aggregator.toml"
        self.log = open(folder / "log", "ab")

    def write(self, more="", http_more='certificate = "own.pem"\nkey = "own.key"\n'):
        text = aggregator.live.aggregator_settings(self.wire, self.port, "state")
        self.config.write_text(text.replace("[http]\n", "[http]\n" + http_more) + more)

    def put(self, certificate, key):
        shutil.copy(certificate, self.folder / "own.pem")
        shutil.copy(key, self.folder / "own.key")

    def start(self):
        self.process = subprocess.Popen([self.build / "l4-aggregator", "--config", self.config],
                                        stdout=self.log, stderr=self.log)
        return wait_for(lambda: "for questions at " + self.url in self.said(), 20 * SLOW)

    def said(self):
        return (self.folder / "log").read_text("utf-8", "replace")

    def shown(self):
        """The certificate that the server presents now; None if it presents none."""
        try:
            return ssl.get_server_certificate(("127.0.0.1", self.port), timeout=5)
        except OSError:
            return ""

    def end(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(60)
        return self.process.returncode if self.process else None


def check_refused_files(expect, l4, site, ours, other):
    """l4-aggregator, its --check-config and `l4 check-config` refuse with the same words."""
    good, old = ours.sign("good"), ours.sign("old", days=PAST)
    no_pem = site.folder / "no.pem"
    no_pem.write_text("nothing\n")
    none = site.folder / "none"
    future = ours.sign("future", days=("-startdate", "20900101000000Z", "-enddate",
                                       "20910101000000Z"))
    rows = [(old, "own.pem: has expired at 2020-02-01 00:00 UTC"),
            (future, "own.pem: is not valid before 2090-01-01"),
            ((good[0], other.sign("stranger")[1]), "own.key: is not the key of the certificate"),
            ((no_pem, good[1]), "own.pem: holds no certificate in PEM form"),
            ((good[0], no_pem), "own.key: holds no private key in PEM form")]
    for files, said in rows:
        site.put(*files)
        site.write()
        expect_refused(expect, l4, site, said)
    site.put(*good)
    (site.folder / "own.key").unlink()
    expect_refused(expect, l4, site, "own.key: cannot be read")
    site.write(http_more='certificate = "own.pem"\n')
    expect_refused(expect, l4, site, "certificate: certificate and key are given together")
    site.put(*good)
    site.write(f'[alerts]\nca = "{none}"\n')
    expect_refused(expect, l4, site, f"{none}: cannot be read")
    site.write()
    run = l4.run("check-config", site.config)
    expect.equal(run.status, 0, "a good certificate passes check-config")


def expect_refused(expect, l4, site, said):
    for form in (["--check-config"], []):
        done = subprocess.run([site.build / "l4-aggregator", "--config", site.config, *form],
                              capture_output=True, check=False, timeout=60)
        expect.that(done.returncode == 2 and said in done.stderr.decode(),
                    f"l4-aggregator {form}: {said}", done)
    run = l4.run("check-config", site.config)
    expect.that(run.status == 2 and said in run.stderr, f"l4 check-config: {said}", run.stderr)


def check_clients(expect, l4, site, ours, other):
    """Messages of l4 about the server that it asks."""
    good = l4.run("jobs", "--address", site.url, "--ca", ours.pem)
    expect.that(good.status == 0 and b"no job" in good.stdout.lower(), "l4 asks over https", good)
    os.environ["L4_CA"] = str(ours.pem)
    expect.equal(l4.run("agents", "--address", site.url).status, 0, "L4_CA is believed")
    expect.equal(l4.run("jobs", "--address", site.url, "--ca", other.pem).status, 3,
                 "--ca comes before L4_CA")
    os.environ["L4_CA"] = "nowhere.pem"
    run = l4.run("jobs", "--address", site.url)
    expect.that(run.status == 2 and "L4_CA: nowhere.pem: cannot be read" in run.stderr,
                "L4_CA is named", run.stderr)
    del os.environ["L4_CA"]
    run = l4.run("jobs", "--address", site.url, "--ca", site.folder / "no.pem")
    expect.that(run.status == 2 and "no.pem: holds no certificates" in run.stderr,
                "a --ca that holds none", run.stderr)
    unknown = "its certificate is signed by an authority that is not known here"
    for what, more in (("the system's authorities", ()), ("another one", ("--ca", other.pem))):
        run = l4.run("jobs", "--address", site.url, *more)
        expect.that(run.status == 3 and unknown in run.stderr and "running" not in run.stderr,
                    f"{what} did not sign", run.stderr)
    run = l4.run("jobs", "--address", f"http://127.0.0.1:{site.port}")
    expect.that(run.status == 3 and "this port speaks TLS: ask it with https://" in run.stderr,
                "http at a port for https", run.stderr)


def check_other_servers(expect, l4, ours):
    alone = ours.folder / "alone.pem", ours.folder / "alone.key"
    openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", alone[1], "-out", alone[0],
            "-days", "1", "-subj", "/CN=alone", "-addext", "subjectAltName=IP:127.0.0.1")
    for files, said in ((ours.sign("past", days=PAST), "has expired"),
                        (ours.sign("elsewhere", "DNS:head.example"),
                         "is for another host than 127.0.0.1"),
                        (ours.sign("named", "DNS:localhost"), ""),
                        (alone, "is signed by itself")):
        server = HttpsServer(*files)
        host = "127.0.0.1" if said else "localhost"
        try:
            run = l4.run("jobs", "--address", f"https://{host}:{server.port}", "--ca", ours.pem)
            expect.equal(run.status, 3 if said else 0, f"exit: {said or 'good'}")
            expect.that(f"its certificate {said}" in run.stderr or not said, said, run.stderr)
            expect.equal(run.stderr.count("\n"), 1 if said else 0, "lines of the message")
        finally:
            server.close()
    with socket.create_server(("127.0.0.1", 0)) as mute:  # takes connections, and says nothing
        port = mute.getsockname()[1]
        run = l4.run("jobs", "--address", f"https://127.0.0.1:{port}", "--ca", ours.pem)
        expect.that(run.status == 3 and "within 10 s" in run.stderr, "nobody shakes hands",
                    run.stderr)


def check_hostile(expect, l4, site, ours):
    """Clients that do not speak TLS are disconnected and disturb no other client."""
    stuck = [socket.create_connection(("127.0.0.1", site.port)) for _ in range(8)]
    for one in stuck:
        one.sendall(b"\x16\x03\x01\x02\x00\x01")
    with socket.create_connection(("127.0.0.1", site.port), timeout=10) as plain:
        plain.sendall(b"GET /api/v1/jobs HTTP/1.1\r\nHost: a\r\n\r\n")
        answer = b"".join(iter(lambda: plain.recv(4096), b""))
    expect.that(answer.startswith(b"HTTP/1.1 400") and b"tls_only" in answer,
                "plain HTTP is answered in plain HTTP", answer)
    with socket.create_connection(("127.0.0.1", site.port), timeout=10) as noise:
        noise.sendall(b"\x16\x03\x01\x00\x05hello")
        with contextlib.suppress(ConnectionResetError):
            while noise.recv(4096):
                pass
    old = subprocess.run(["openssl", "s_client", "-connect", f"127.0.0.1:{site.port}", "-tls1_1",
                          "-cipher", "DEFAULT@SECLEVEL=0"], input=b"", capture_output=True,
                         check=False, timeout=30)
    expect.that(b"protocol version" in old.stderr, "TLS 1.1 is refused", old.stderr)
    new = subprocess.run(["openssl", "s_client", "-connect", f"127.0.0.1:{site.port}", "-tls1_2",
                          "-CAfile", ours.pem, "-verify_return_error"], input=b"",
                         capture_output=True, check=False, timeout=30)
    expect.that(b"Verify return code: 0 (ok)" in new.stdout, "TLS 1.2 is spoken", new.stderr)
    began = time.monotonic()
    for one in stuck:
        one.settimeout(30 * SLOW)
        with contextlib.suppress(ConnectionResetError):
            expect.equal(one.recv(1), b"", "a handshake that stands still is given up")
        one.close()
    expect.that(time.monotonic() - began < 25 * SLOW, "in time")
    context = ssl.create_default_context(cafile=ours.pem)
    whole = ssl.SSLSocket.recv
    with context.wrap_socket(socket.create_connection(("127.0.0.1", site.port), timeout=10),
                             server_hostname="127.0.0.1") as two:
        answers = b""
        for more in (b"", b"Connection: close\r\n"):  # two requests over one connection
            two.sendall(b"GET /healthz HTTP/1.1\r\nHost: a\r\n" + more + b"\r\n")
        while part := whole(two, 4096):
            answers += part
    expect.equal(answers.count(b"HTTP/1.1 "), 2, "requests over one connection")


def check_exchange(expect, l4, site, ours, other):
    """After SIGHUP the server presents the certificate in the files, if it is valid."""
    before, next_one = site.shown(), ours.sign("next")
    expect.that(before, "a certificate is shown")
    site.put(*ours.sign("old-too", days=PAST))
    site.process.send_signal(signal.SIGHUP)
    expect.that(wait_for(lambda: "the certificate was not taken" in site.said() and
                         "has expired" in site.said(), 10 * SLOW), "an expired one is told",
                site.said()[-400:])
    expect.equal(site.shown(), before, "the old one is shown on")
    site.put(next_one[0], other.sign("misfit")[1])
    site.process.send_signal(signal.SIGHUP)
    expect.that(wait_for(lambda: "is not the key" in site.said(), 10 * SLOW), "a misfit is told")
    expect.equal(site.shown(), before, "and the old one shown on")
    site.put(*next_one)
    site.process.send_signal(signal.SIGHUP)
    expect.that(wait_for(lambda: site.shown() not in ("", before), 10 * SLOW),
                "the next one is shown")
    run = l4.run("jobs", "--address", site.url, "--ca", ours.pem)
    expect.equal(run.status, 0, "and believed")


def check_alerts(expect, site, ours, hook, stranger):
    """Alerts go to https sinks with a trusted certificate, and to no others."""
    nodes = site.folder / "keys"
    player = subprocess.Popen(
        [site.build / "l4_player", "play", f"tcp://127.0.0.1:{site.wire}", nodes,
         aggregator.aged_sample(site.folder), "sample", "40"], stdout=subprocess.DEVNULL)
    try:
        expect.that(wait_for(lambda: any(a["alert"] == "opened" for a in hook.posted), 60 * SLOW),
                    "the alert arrives over https", site.said()[-600:])
        expect.that(wait_for(lambda: "its certificate is signed by an authority" in site.said(),
                             20 * SLOW), "trouble with the other sink is told", site.said()[-600:])
        expect.equal(stranger.posted, [], "what a sink that is not believed was told")
    finally:
        player.kill()
        player.wait()


def main():
    l4, expect = support.start(sys.argv, "tls")
    if shutil.which("openssl") is None:
        print("tls: there is no openssl here")
        return support.SKIPPED
    for name in ("L4_ADDRESS", "L4_CA", "SSL_CERT_FILE", "SSL_CERT_DIR"):
        os.environ.pop(name, None)
    build = pathlib.Path(l4.binary).resolve().parent
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        l4.run("keys", "init", "--dir", folder / "keys")
        l4.run("keys", "add", "--dir", folder / "keys", *aggregator.NODES)
        ours, other = Authority(folder, "ours"), Authority(folder, "other")
        site = Site(build, folder)
        stack.callback(site.end)
        check_refused_files(expect, l4, site, ours, other)
        check_other_servers(expect, l4, ours)
        hook, stranger = HttpsServer(*ours.sign("hook")), HttpsServer(*other.sign("hook"))
        stack.callback(hook.close)
        stack.callback(stranger.close)
        site.write(f"""[alerts]
ca = "ours/ca.pem"
webhook = "https://127.0.0.1:{hook.port}/l4"
[[alerts.sink]]
name = "stranger"
kind = "webhook"
url = "https://127.0.0.1:{stranger.port}/l4"
""")
        expect.that(site.start(), "it starts", site.said()[-600:])
        check_clients(expect, l4, site, ours, other)
        check_hostile(expect, l4, site, ours)
        check_exchange(expect, l4, site, ours, other)
        check_alerts(expect, site, ours, hook, stranger)
        expect.equal(site.end(), 0, "exit")
    return expect.end()


if __name__ == "__main__":
    sys.exit(main())
