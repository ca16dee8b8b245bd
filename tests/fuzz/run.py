#!/usr/bin/env python3
"""Runs fuzz targets: first the inputs that once failed, then new ones from seeds of the repository.

usage: run.py --bin FOLDER [--seconds N] [--seed N] [TARGET...]

Targets: decode, frames, clocks, progress, names, drain, config, wire, control, lines, report, http,
query, flows.

FOLDER holds the programs TARGET_fuzz (build/asan/bin). An input that breaks a target is kept in
FOLDER/../findings and named; once mended it belongs into tests/fuzz/found/TARGET. Ends with 1 if
there is one.
"""
import argparse
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SHARED = ROOT.parent / "shared"
TARGETS = ["decode", "frames", "clocks", "progress", "names", "drain", "config", "wire", "control",
           "lines", "report", "http", "query", "flows"]
SEED_BYTES_MAX = 8192


def heads(files):
    for file in files:
        with open(file, "rb") as stream:
            yield stream.read(SEED_BYTES_MAX)


def logs():
    """Logs of the repository, and real ones if they are there."""
    yield from heads(sorted((ROOT / "samples").rglob("*.log")))
    yield from heads(sorted((ROOT / "tests" / "agent").rglob("*.log")))
    yield from heads(sorted((SHARED / "data" / "real_logs").glob("*/*.log")))


def configs():
    """Rule packs, fault files and codes, each with the byte that selects its reader."""
    for steer, files in (("\x00", "frameworks/*.toml"), ("\x01", "faults/*.toml"),
                         ("\x02", "masks.toml")):
        for seed in heads(sorted((ROOT / "config").glob(files))):
            yield steer.encode() + seed


def reports():
    for seed in sorted((ROOT / "tests" / "aggregator" / "serve" / "golden").glob("*.json")):
        yield b"\x48" + seed.read_bytes()


def requests():
    """Requests of clients, whole and halved."""
    host = b"Host: a\r\n"
    body = b'{"incident": "a.0.1", "cause": "c", "fix": "f"}'
    length = b"Content-Length: %d\r\n" % len(body)
    for steer in (b"\x04", b"\x05"):
        yield steer + b"GET /api/v1/jobs?count=2&after=%C3%A4 HTTP/1.1\r\n" + host + b"\r\n"
        yield steer + b"HEAD /a%20b/../%2e/c HTTP/1.0\r\nIf-None-Match: \"1\"\r\n\r\n"
        yield steer + b"POST /api/v1/faults HTTP/1.1\r\n" + host + length + b"\r\n" + body
        yield (steer + b"POST /p HTTP/1.1\r\n" + host + b"Expect: 100-continue\r\n"
               b"Transfer-Encoding: chunked\r\n\r\n5;x=1\r\nhello\r\n0\r\nTrailer: 1\r\n\r\n")
        yield (steer + b"DELETE /api/v1/faults/x HTTP/1.1\r\n" + host +
               b"Authorization: Bearer abc\r\nConnection: close\r\n\r\n")


RUN = (b'{"schema": "l4.pool/1", "runs": [{"run": "other.0", "job": "other", "attempt": 0, '
       b'"origin": "logs", "ended": "2026-11-20T15:54:42Z", "nodes": 1, "ranks": 1, "lines": 10, '
       b'"left_out": 0, "pauses": [{"stage": "training", "startup": false, "longest_ms": 900}], '
       b'"events": [{"id": "00000000000000aa", "template": "step <*> was done", "level": "info", '
       b'"node_count_max": 9, "node_rate_max": 0.9, "node_share": 1}]}]}')


def asked():
    """Each route with the parameters it knows, for the job that the target watches: a question, and
    the status that it is answered with, in this order."""
    job = b"/api/v1/jobs/crash-rank4"
    for path in (b"/api/v1/jobs?count=1&after=a", job, job + b"/snapshot", job + b"/nodes?count=2",
                 job + b"/iterations?count=2", job + b"/snapshots?count=2&before=s1795363200000",
                 job + b"/events", b"/api/v1/events?job=crash-rank4",
                 b"/api/v1/agents?count=2&after=node-00",
                 b"/api/v1/faults?confirmed=false&whole=true&format=toml&count=3",
                 b"/api/v1/incidents?job=crash-rank4&open=true&count=3&after=1.a",
                 b"/api/v1/incidents/INCIDENT", b"/api/v1/pool?whole=true&kind=a&count=2",
                 b"/metrics", b"/healthz", b"/readyz"):
        yield b"\x00" + path, 200
    for path in (job + b"/snapshot?at=2026-11-20T15:54:42Z", job + b"/snapshot?at=s1795363200000",
                 job + b"/lines?template=00000000000000aa&node=node-1&rank=4&context=5&limit=9"
                 b"&around=2026-11-20T15:54:42Z", b"/api/v1/faults/none", b"/api/v1/pool/none"):
        yield b"\x00" + path, 404
    for path in (b"/api/v1/incidents?opne=true", b"/api/v1/jobs?count=0"):
        yield b"\x00" + path, 400
    confirmation = (b'{"incident": "INCIDENT", "id": "fuzzed", "cause": "a", "fix": "b", '
                    b'"category": "hardware/accelerator", "example": "ring broke in 7 places", '
                    b'"patterns": ["ring broke in [0-9]+ places"], "dry_run": ')
    yield b"\x01/api/v1/faults\n" + confirmation + b"true}", None   # 200, or 422 for what it says
    yield b"\x01/api/v1/faults\n" + confirmation + b"false}", None
    yield b"\x01" + job + b"/snapshots\n{}", 200
    yield b"\x01" + job + b'/outcome\n{"outcome": "failure", "note": "a"}', 200
    yield b"\x01" + job + b'/outcome\n{"outcome": "success"}', 200
    yield b"\x01/api/v1/pool\n" + RUN, 200
    yield b"\x00/api/v1/pool/other.0", 200
    yield b"\x02/api/v1/pool/other.0", 200
    yield b"\x02/api/v1/faults/none", 404


def questions():
    return (question for question, _ in asked())


def reach(program, corpus):
    """Whether the seed questions get their intended statuses: a question that fails the first check
    reaches no code behind it."""
    files = sorted(pathlib.Path(corpus).glob("seed*"))
    # With the search for leaks the target would run some files twice.
    done = subprocess.run([program, "-detect_leaks=0", *files], capture_output=True, text=True,
                          errors="replace", check=False,
                          env={**os.environ, "L4_FUZZ_STATUS": "1"})
    told = [int(line.split()[1]) for line in done.stderr.splitlines() if line.startswith("status ")]
    wrong = [f"{question[1:70]!r} {status}, not {meant}"
             for (question, meant), status in zip(asked(), told)
             if status != meant and (meant or status not in (200, 422))]
    if done.returncode or wrong or len(told) != len(files):
        print(f"FAILED query: {len(told)} of {len(files)} seeds are answered; " + "; ".join(wrong))
        return False
    return True


def names():
    """The examples of the forms that blame somebody, and logs, which name ranks and hosts."""
    forms = (ROOT / "common" / "parameters" / "blame_forms.h").read_text()
    yield b"\x00" + "\n".join(re.findall(r'"([^"\n]{8,})"', forms)).encode()
    yield (b"\x02(TorchTrainer pid=7236) - (ip=10.0.1.2, pid=7411) world_rank=1, local_rank=1\n"
           b"(RayTrainWorker pid=7411, ip=10.0.1.2) step 1\nout/1/rank.3/stdout\n"
           b"log/workerlog.3\n12345-node-a-7.out\n")
    yield from (b"\x01" + log for log in logs())


def flows():
    """Flow records in each form: a ring of four cards, step by step."""
    rows = [(1760000000000000000 + step * 10 ** 9 + bucket * 10 ** 7, f"10.0.0.{i + 1}",
             f"10.0.0.{(i + 1) % 4 + 1}") for step in range(12) for bucket in range(2)
            for i in range(4)]
    head = b"start_ns,end_ns,src,dst,src_port,dst_port,proto,bytes,packets,exporter,sequence\n"
    yield b"\x00" + head + "".join(
        f"{at},{at + 5000000},{src},{dst},50000,4791,17,20000000,5000,leaf,{n}\n"
        for n, (at, src, dst) in enumerate(rows)).encode()
    fields = ((8, 4), (12, 4), (7, 2), (11, 2), (4, 1), (1, 8), (2, 8), (152, 8), (153, 8))
    form = struct.pack("!HH", 256, len(fields)) + b"".join(struct.pack("!HH", *f) for f in fields)
    data = b"".join(bytes(map(int, (src + "." + dst).split("."))) +
                    struct.pack("!HHBQQQQ", 50000, 4791, 17, 20000000, 5000, at // 10 ** 6,
                                at // 10 ** 6 + 5) for at, src, dst in rows)
    sets = (struct.pack("!HH", 2, 4 + len(form)) + form +
            struct.pack("!HH", 256, 4 + len(data)) + data)
    message = struct.pack("!HHIII", 10, 16 + len(sets), 1760000000, 0, 1) + sets
    options = struct.pack("!HHHHHHHHHHH", 3, 22, 257, 3, 1, 149, 4, 305, 4, 36, 2)
    told = struct.pack("!HHIIH", 257, 14, 1, 1024, 60)
    second = struct.pack("!HHIII", 10, 16 + len(options + told), 1760000000, 96, 1) + options + told
    old = struct.pack("!HHIIIIHHHHHHHHHHHHHHHHIIIII", 9, 2, 5000, 1760000000, 1, 0, 0, 28, 300, 5,
                      8, 4, 12, 4, 1, 4, 22, 4, 21, 4, 300, 24, 1, 2, 9000, 4000, 4500)
    yield b"\x01" + b"".join(struct.pack("!H", len(m)) + m for m in (message, second, old, message))
    yield b"\x021760000000.123 0.881 10.0.0.1 fe80::2 50000 4791 UDP 123456789 30000\n"
    yield (b'\x03{"servers": [{"server": "node-0", "front_end": "172.16.0.1", "nics": '
           b'[{"nic": "mlx5_0", "address": "10.0.0.1", "leaf": "leaf-3"}]}], '
           b'"storage": ["172.20.0.1"]}')


def seeds(target):
    made = {"config": configs, "report": reports, "http": requests, "query": questions,
            "names": names, "flows": flows}
    if target in made:
        yield from made[target]()
    elif target not in ("wire", "control", "lines"):  # these make messages themselves
        for steer in (b"\x00", b"\x03"):
            yield from (steer + log for log in logs())


def run(target, options):
    program = pathlib.Path(options.bin, f"{target}_fuzz")
    if not program.exists():
        print(f"FAILED there is no program {program}; build it first")
        return False
    findings = pathlib.Path(options.bin).parent / "findings"
    findings.mkdir(exist_ok=True)
    found = sorted((HERE / "found" / target).glob("*"))
    if found and subprocess.run([program, *found], capture_output=True, check=False).returncode:
        print(f"FAILED {target}: an input of tests/fuzz/found breaks it again")
        return False
    with tempfile.TemporaryDirectory() as corpus:
        for i, seed in enumerate(seeds(target)):
            pathlib.Path(corpus, f"seed{i:04}").write_bytes(seed)
        if target == "query" and not reach(program, corpus):
            return False
        done = subprocess.run(
            [program, corpus, f"-max_total_time={options.seconds}", f"-seed={options.seed}",
             "-max_len=16384", "-timeout=20", "-rss_limit_mb=3000", "-print_final_stats=1",
             f"-artifact_prefix={findings}/{target}-"], capture_output=True, text=True,
            errors="replace", check=False)
    runs = [line for line in done.stderr.splitlines() if "number_of_executed_units" in line]
    print(f"{target}: {runs[0].split()[-1] if runs else 'no'} inputs in {options.seconds} s, "
          f"{'clean' if done.returncode == 0 else 'BROKEN'}", flush=True)
    if done.returncode != 0:
        print("\n".join(done.stderr.splitlines()[-60:]))
    return done.returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", nargs="*", choices=[*TARGETS, []], default=TARGETS)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    return 0 if all([run(target, options) for target in options.target]) else 1


if __name__ == "__main__":
    sys.exit(main())
