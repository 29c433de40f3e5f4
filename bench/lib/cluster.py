# SPDX-License-Identifier: BSD-3-Clause
"""Owns the emulated cluster of a setup: up, check, servers, command lines, counters, down."""
import os
import subprocess
import time

from lib import contestants, paths
from lib.launch import stop

# What the surroundings have set must not decide.
FOREIGN = ("OMPI_MCA_", "UCX_", "OPTCAST_UCX_", "PMIX_MCA_", "MPICH_", "NAP_")


# Of the self-check: something else may need the processors for a moment.
ATTEMPTS = 3
CHECK_SECONDS = 2

# Longer than all launches of a setup.
STREAM_SECONDS = 86400


class PlaceError(Exception):
    """What a person has to know to mend it."""


def environment():
    """That of everything that is started on emulated hosts or on this one."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(FOREIGN)}
    return {**kept, "BUILD": str(paths.BUILD), "OMP_NUM_THREADS": "1",
            "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def parse_counters(text):
    """Output of cluster stats as {host: (sent, received)} in bytes."""
    lines = [line.split() for line in text.splitlines()[1:]]
    return {line[0]: (int(line[1]), int(line[2])) for line in lines if len(line) > 2}


class Cluster:
    """Hosts 1 to h have ranks, the k after them have servers."""

    exact_counters = True

    def __init__(self, settings=(), keep=False, strict=True):
        self.name = f"bench-{os.getpid()}"
        self.settings = settings
        self.keep = keep
        self.strict = strict    # links that fail the self-check end the run
        self.environment = environment()
        self.addresses = ""
        self.loss = 0           # percent, at all hosts
        self.streams = []       # processes that send

    def call(self, command, *words):
        """Output of a cluster command."""
        process = subprocess.Popen([paths.CLUSTER, command, "--name", self.name, *map(str, words)],
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                   stdin=subprocess.DEVNULL, env=self.environment)
        try:
            said, _ = process.communicate()
        except BaseException:
            # not killed: it removes what it has made so far
            process.terminate()
            process.communicate()
            raise
        if process.returncode:
            raise PlaceError(f"cluster {command} failed: {said.strip()}")
        return said

    def prepare(self, setup):
        """A new cluster for this setup. Returns what check does."""
        self.make(setup)
        said = self.check()
        self.start_servers(setup)
        return said

    def check(self):
        """(True if the links carry what they should, what the self-check said)"""
        said = ""
        for _ in range(ATTEMPTS if self.strict else 1):
            try:
                return True, self.call("check", CHECK_SECONDS)
            except PlaceError as error:
                said = str(error)
                time.sleep(CHECK_SECONDS)
        if self.strict:
            raise PlaceError(f"{said}\nThe links do not carry what they should: run it on a "
                             "machine that does nothing else, or give --unchecked")
        return False, said

    def make(self, setup):
        """Hosts and links, without anything that was there before."""
        self.down()
        self.loss = 0
        self.call("up", "--hosts", setup.hosts + setup.servers + setup.tree, "--rate", setup.rate,
                  *(("--snooping",) if setup.snooping else ()))

    def start_servers(self, setup):
        """One on each host without ranks; in a tree, that of the last one is the others' parent."""
        end = setup.hosts + setup.servers + 1
        options = ("--parent", self.call("server", end).strip()) if setup.tree else ()
        self.addresses = ",".join(self.call("server", host, *options).strip()
                                  for host in range(setup.hosts + 1, end))

    def renew(self, setup):
        """After a launch that did not end by itself: nothing of it remains."""
        self.make(setup)
        self.start_servers(setup)

    def arrange(self, contestant, setup):
        """What a contestant needs of the network, before a launch of it."""
        if contestant.loss != self.loss:
            for host in range(1, setup.hosts + 1):
                self.call("loss", host, contestant.loss, "udp")
            self.loss = contestant.loss
        if contestant.streams != bool(self.streams):
            self.end_streams()
            if contestant.streams:
                self.start_streams(setup.hosts)
        if any(process.poll() is not None for process in self.streams):
            raise PlaceError("a TCP stream beside the ranks has ended: iperf3 on the hosts failed")

    def start_streams(self, hosts):
        """A TCP stream from each host to the next one, as fast as it goes, until it is ended."""
        addresses = [line.split()[1] for line in self.call("names").splitlines()]
        for host in range(1, hosts + 1):
            if self.begin(host, "iperf3", "--server", "--daemon", "--one-off").wait():
                raise PlaceError(f"iperf3 --server failed on h{host}")
        self.streams = [self.begin(host, "iperf3", "--client", addresses[host % hosts], "--time",
                                   str(STREAM_SECONDS), "--connect-timeout", "5000")
                        for host in range(1, hosts + 1)]

    def begin(self, host, *words):
        """Begins a program on a host, and forgets what it says."""
        return subprocess.Popen([paths.CLUSTER, "exec", "--name", self.name, str(host), *words],
                                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL, env=self.environment,
                                start_new_session=True)

    def end_streams(self):
        """None is sent any more."""
        for process in self.streams:
            stop(process)
        self.streams = []

    def command(self, contestant, setup):
        """What starts a contestant, up to the program."""
        last = setup.hosts + (setup.servers + setup.tree if contestant.hosts == "all" else 0)
        words = [str(paths.CLUSTER), "run", "--name", self.name, "--hosts", f"1-{last}",
                 "--per-host", str(setup.per_host)]
        words += ["--nap"] if contestants.naps(contestant, setup) else []
        words += ["--plain-udp"] if contestant.plain_udp else []
        words += ["--mpi", "mpich"] if contestant.mpi == "mpich" else []
        if contestant.kind == "ours" and contestant.mpi == "mpich":
            words += ["--preload", str(paths.MPICH_LIBRARY)]
            words += contestants.of_library(servers="embedded" if contestant.embedded else self.addresses,
                                            settings=(*self.settings, *contestant.settings))
        elif contestant.kind == "ours":
            servers = "embedded" if contestant.embedded else self.addresses
            words += contestants.of_component(paths.COMPONENT, servers=servers,
                                              settings=(*self.settings, *contestant.settings))
        return [*words, *contestant.arguments]

    def counters(self):
        """Bytes on the link of each host so far, with all headers."""
        return parse_counters(self.call("stats"))

    def down(self):
        """Nothing remains, also not what an earlier setup of this run kept; twice is fine."""
        self.end_streams()
        self.call("down")

    def close(self):
        """The end, at which --keep leaves it as it is."""
        if not self.keep:
            self.down()
