"""Kinds of fault that slow a job of ../shared/lab without ending it, beside those of the lab.

slow_kinds.py puts this file beside run_job.py in a copy of the lab, which loads it and provides
`fault`, `Fault` and `sh`. Each kind works from outside by means of the kernel or by what the files
hold; the trainer knows of none. Linux with control groups v1, loop devices and tc; root.
"""
import base64
import gzip
import os
import shutil
import signal
import threading
import time


def first_of_shard(job):
    """What lies in files changes where one of them begins."""
    per = job.a.shard_iters
    job.at_iter = max(1, job.at_iter // per) * per + 1


@fault("slow_loader", "slow", "rank")
class SlowLoader(Fault):
    doc = "the records of one rank carry large annotations from an iteration on: parsing takes long"
    lead = 1
    annotation = "[" + "[]," * 60_000 + "[]]"

    def prepare(self):
        job = self.job
        first_of_shard(job)
        for shard in range(job.shard_of(job.at_iter), job.shard_of(job.a.iters) + 1):
            path = job.shard_path(job.rank, shard)
            with gzip.open(path, "rt") as file:
                records = file.read().splitlines()
            with gzip.open(path, "wt", 1) as file:
                for record in records:
                    file.write(f'{record[:-1]}, "annotations": {self.annotation}}}\n')


class ReadFromDisk(Fault):
    """The corpus of the target node lies on a file system of its own, its records are large, and
    nothing of it is in memory."""
    text_bytes = 4500

    def enlarge(self, it, i, record):
        record["text"] = base64.b64encode(os.urandom(self.text_bytes)).decode()

    def prepare(self):
        job = self.job
        first_of_shard(job)
        for rank in range(job.world):
            for shard in range(job.shard_of(job.a.iters) + 2):
                job.write_shard(rank, shard, self.enlarge)
        corpus = job.corpus(job.node)
        image, files = corpus + ".img", corpus + ".files"
        shutil.move(corpus, files)
        os.makedirs(corpus)
        need = sum(os.path.getsize(os.path.join(files, name)) for name in os.listdir(files))
        with open(image, "wb") as file:
            file.truncate(2 * need + (16 << 20))
        sh("mkfs.ext4", "-q", "-F", image)
        sh("mount", "-o", "loop", image, corpus)
        job.mounts.append(corpus)
        shutil.copytree(files, corpus, dirs_exist_ok=True)
        sh("umount", corpus)              # nothing that was written stays in memory
        sh("mount", "-o", "loop,noatime", image, corpus)
        device = sh("findmnt", "-no", "SOURCE", corpus).strip()
        sh("blockdev", "--setra", "16", device)
        with open(f"/sys/class/block/{os.path.basename(device)}/dev") as file:
            self.device = file.read().strip()
        self.group = job.cgroup("blkio", "disk")

    def limit(self, bytes_per_s):
        with open(self.group + "/blkio.throttle.read_bps_device", "w") as file:
            file.write(f"{self.device} {bytes_per_s}")

    def enter(self):
        """The ranks of the node, with all their threads."""
        job, pids = self.job, self.job.rank_pids()
        for rank in range(job.node * job.r, (job.node + 1) * job.r):
            with open(self.group + "/cgroup.procs", "w") as file:
                file.write(str(pids[rank]))

    def clear(self):
        self.limit(0)


@fault("slow_disk", "slow", "node")
class SlowDisk(ReadFromDisk):
    doc = "the disk with one node's corpus reads slowly from an iteration on"
    bytes_per_s = 35_000

    def inject(self):
        self.limit(self.bytes_per_s * self.job.r)
        self.enter()
        self.info["bytes_per_s"] = self.bytes_per_s * self.job.r


@fault("lossy_link", "slow", "node")
class LossyLink(Fault):
    doc = "the link of one node drops a part of the packets in both directions"
    share = 0.08

    def inject(self):
        job = self.job
        # A random number is loaded; above the bound the packet is dropped (2), else passed (-1).
        bound = int((1 - self.share) * 2**32)
        code = f"4,32 0 0 4294963256,53 0 1 {bound},6 0 0 2,6 0 0 4294967295"
        for space, device in ((job.ns[job.node], "eth0"), (job.sw, f"p{job.node}")):
            sh("tc", "-n", space, "qdisc", "add", "dev", device, "clsact")
            sh("tc", "-n", space, "filter", "add", "dev", device, "egress", "bpf", "da", "bytecode",
               code)
        self.info["share"] = self.share

    def clear(self):
        job = self.job
        for space, device in ((job.ns[job.node], "eth0"), (job.sw, f"p{job.node}")):
            sh("tc", "-n", space, "qdisc", "del", "dev", device, "clsact")


@fault("short_of_cpu", "slow", "rank")
class ShortOfCpu(Fault):
    doc = "one rank gets a part of the processor time that it used before"
    part, look_s, period_us = 0.3, 2.0, 100_000

    def used_s(self, pid):
        with open(f"/proc/{pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def inject(self):
        job = self.job
        pid = job.rank_pids()[job.rank]
        before = self.used_s(pid)
        time.sleep(self.look_s)
        share = max(0.01, self.part * (self.used_s(pid) - before) / self.look_s)
        self.group = job.cgroup("cpu", "short")
        self.quota(int(share * self.period_us))
        with open(self.group + "/cgroup.procs", "w") as file:
            file.write(str(pid))
        # Iterations went on while it looked.
        self.info.update(pid=pid, share=share, trigger_iter=job.last_iter(job.rank)[0])

    def quota(self, microseconds):
        with open(self.group + "/cpu.cfs_period_us", "w") as file:
            file.write(str(self.period_us))
        with open(self.group + "/cpu.cfs_quota_us", "w") as file:
            file.write(str(microseconds))

    def clear(self):
        self.quota(-1)


class Pause(Fault):
    """Once, for some seconds."""
    seconds = 3.0

    def end(self):
        raise NotImplementedError

    def end_later(self):
        self.timer = threading.Timer(self.seconds, self.end)
        self.timer.start()
        self.info["seconds"] = self.seconds

    def stop(self):
        if hasattr(self, "timer"):
            self.timer.join()


@fault("pause", "slow", "rank")
class PauseOfRank(Pause):
    doc = "one rank is stopped for three seconds, once, and goes on"

    def inject(self):
        self.pid = self.job.rank_pids()[self.job.rank]
        self.job.kill(self.pid, signal.SIGSTOP)
        self.end_later()

    def end(self):
        self.job.kill(self.pid, signal.SIGCONT)


@fault("pause_of_disk", "slow", "node")
class PauseOfDisk(ReadFromDisk, Pause):
    doc = "the disk with one node's corpus answers no read for three seconds, once"

    def inject(self):
        self.limit(1)
        self.enter()
        self.end_later()

    def end(self):
        self.limit(0)
