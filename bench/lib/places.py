# SPDX-License-Identifier: BSD-3-Clause
"""Owns the places that need no emulated links: this host alone, and a real cluster."""
import os
import re
import shutil
import subprocess
from dataclasses import replace

from lib import contestants, paths
from lib.cluster import PlaceError, environment


def find_mpirun():
    """The name of Open MPI's mpirun: plain mpirun may be another one's."""
    for name in filter(None, (os.environ.get("MPIRUN"), "mpirun.openmpi", "mpirun")):
        if shutil.which(name):
            said = subprocess.run([name, "--version"], capture_output=True, text=True, check=False,
                                  env=environment())
            if "Open MPI" in said.stdout:
                return name
    raise PlaceError("no mpirun of Open MPI in PATH: install openmpi-bin, or set MPIRUN")


class Place:
    """What both have in common: nothing to set up, and no counters but those of optcast-perf."""

    exact_counters = False

    def __init__(self, settings=()):
        self.mpirun = find_mpirun()
        self.settings = settings
        self.environment = environment()
        self.addresses = ""

    def prepare(self, setup):
        """There is no self-check, and so nothing that it said."""
        return True, ""

    def renew(self, setup):
        """mpirun has ended its ranks."""

    def arrange(self, contestant, setup):
        """The network is what it is."""

    def counters(self):
        """Unknown."""

    def close(self):
        """Nothing to remove."""

    def ours(self, contestant):
        """Arguments of mpirun for coll/optcast; none for peers."""
        if contestant.kind != "ours":
            return ()
        servers = "embedded" if contestant.embedded else self.addresses
        return contestants.of_component(paths.COMPONENT, servers=servers,
                                        settings=(*self.settings, *contestant.settings))


class Local(Place):
    """All ranks on this host."""

    def command(self, contestant, setup):
        """What starts a contestant, up to the program."""
        return [self.mpirun, "--oversubscribe", "-np", str(setup.per_host), "--bind-to", "none",
                "--mca", "mpi_yield_when_idle", "1", *self.ours(contestant),
                *contestant.arguments]


def parse_hostfile(text):
    """[(host, slots or None)] of lines such as "n1 slots=2", in which # begins a comment."""
    hosts = []
    for line in text.splitlines():
        words = line.split("#")[0].split()
        if words:
            slots = re.search(r"\bslots\s*=\s*(\d+)", " ".join(words[1:]))
            hosts.append((words[0], int(slots.group(1)) if slots else None))
    if not hosts:
        raise PlaceError("the host file names no hosts: one on each line is needed")
    return hosts


class Real(Place):
    """Hosts of a host file. Servers run already."""

    def __init__(self, hostfile, servers, rate, settings=()):
        super().__init__(settings)
        self.environment = dict(os.environ)
        self.hostfile = os.path.abspath(hostfile)
        with open(hostfile, encoding="utf-8") as file:
            self.hosts = parse_hostfile(file.read())
        self.addresses = servers
        self.rate = rate

    def adapt(self, setup):
        """The same measurement on these hosts."""
        slots = [count for _, count in self.hosts if count]
        per_host = min([setup.per_host, *slots])
        count = len([server for server in self.addresses.split(",") if server])
        found = [contestants.find(setup.collective, name) for name in setup.contestants]
        # nobody naps on hosts of their own
        chosen = [c.name for c in found
                  if c.hosts == "ranks" and (count or c.embedded or c.kind != "ours")
                  and not c.nap and not c.loss and not c.plain_udp and not c.streams]
        return replace(setup, hosts=len(self.hosts), servers=count, rate=self.rate, nap=False,
                       per_host=per_host, contestants=tuple(chosen),
                       name=f"{len(self.hosts)}+{count}" if count else str(len(self.hosts)))

    def command(self, contestant, setup):
        """What starts a contestant, up to the program."""
        ranks = len(self.hosts) * setup.per_host
        if contestant.mpi == "mpich":
            hosts = ",".join(f"{host}:{setup.per_host}" for host, _ in self.hosts)
            return ["mpiexec.hydra", "-hosts", hosts, "-ppn", str(setup.per_host),
                    "-n", str(ranks)]
        return [self.mpirun, "--hostfile", self.hostfile, "-np", str(ranks),
                "--map-by", f"ppr:{setup.per_host}:node", *self.ours(contestant),
                *contestant.arguments]
