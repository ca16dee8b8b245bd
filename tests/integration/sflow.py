#!/usr/bin/env python3
"""Packet samples of sFlow: sent to sfcapd, whose files `l4 flows` reads.

usage: sflow.py L4

A ring of four cards of which one packet in 1,024 is sampled, in bursts. Skipped where sfcapd
(Debian: nfdump-sflow) is missing.
"""
import json
import pathlib
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time

import support
from live import free_port, wait_for

RATE, LENGTH, CARDS, BURSTS, EACH = 1024, 4170, 4, 6, 20


def packet(src, dst, port):
    """Ethernet, IPv4 and UDP of RDMA; what switches send of a packet is its beginning."""
    ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, LENGTH - 14, 1, 0, 64, 17, 0,
                     socket.inet_aton(src), socket.inet_aton(dst))
    return b"\x02" * 6 + b"\x04" * 6 + b"\x08\x00" + ip + \
        struct.pack("!HHHH", port, 4791, LENGTH - 34, 0) + bytes(22)


def sample(number, header):
    """A flow sample (sFlow version 5) with one raw header."""
    raw = struct.pack("!IIII", 1, LENGTH, 4, len(header)) + header
    body = struct.pack("!IIIIIIII", number, 1, RATE, number * RATE, 0, 1, 2, 1) + \
        struct.pack("!II", 1, len(raw)) + raw
    return struct.pack("!II", 1, len(body)) + body


def datagram(number, samples):
    return struct.pack("!II4sIIII", 5, 1, socket.inet_aton("10.9.9.1"), 0, number, number,
                       len(samples)) + b"".join(samples)


def send(port):
    out, number = socket.socket(socket.AF_INET, socket.SOCK_DGRAM), 0
    for _ in range(BURSTS):
        for _ in range(EACH):
            samples = [sample(number * CARDS + k,
                              packet(f"10.0.0.{k + 1}", f"10.0.0.{(k + 1) % CARDS + 1}", 50000 + k))
                       for k in range(CARDS)]
            out.sendto(datagram(number, samples), ("127.0.0.1", port))
            number += 1
            time.sleep(0.002)
        time.sleep(0.25)


def main():
    l4, expect = support.start(sys.argv, "sflow")
    if shutil.which("sfcapd") is None or shutil.which("nfdump") is None:
        print("skipped: no sfcapd or no nfdump")
        return support.SKIPPED
    with tempfile.TemporaryDirectory(prefix="l4-sflow-") as name:
        folder, port = pathlib.Path(name), free_port()
        collector = subprocess.Popen(["sfcapd", "-b", "127.0.0.1", "-p", str(port), "-w", folder,
                                      "-t", "600"], stdout=subprocess.DEVNULL,
                                     stderr=subprocess.DEVNULL)
        try:
            wait_for(lambda: any(folder.iterdir()), 10)
            send(port)
        finally:
            time.sleep(0.3)
            collector.terminate()
            collector.wait()
        done = l4.run("flows", folder, "--format", "json")
        expect.equal(done.status, 0, "exit status")
        found = json.loads(done.stdout or "{}")
        jobs = found.get("jobs", [])
        expect.equal([len(job["nics"]) for job in jobs], [CARDS], "one job with all cards")
        expect.equal(sum(len(job["pairs"]) for job in jobs), CARDS, "the pairs of the ring")
        expect.equal(found.get("read", {}).get("records"), BURSTS * CARDS,
                     "samples of a burst are one transfer")
        text = l4.run("flows", folder).stdout.decode()
        expect.that(f"1 of {RATE} packets" in text, "the rate is told", text[-300:])
    return expect.end()


if __name__ == "__main__":
    sys.exit(main())
