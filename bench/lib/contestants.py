# SPDX-License-Identifier: BSD-3-Clause
"""Owns the table of contestants: who is measured, and with which arguments."""
from dataclasses import dataclass


@dataclass(frozen=True)
class Contestant:
    """One way to do a collective."""
    name: str
    label: str
    mpi: str = "openmpi"
    arguments: tuple = ()       # of mpirun
    settings: tuple = ()        # of ours: NAME=VALUE, without coll_optcast_ or OPTCAST_
    program: tuple = ()         # of optcast-perf
    kind: str = "peer"          # ours; peer; other: not the same task, so never the best peer
    nap: bool = None            # None: as the setup says for peers, never for ours
    hosts: str = "ranks"        # all: server hosts are ranks, too
    embedded: bool = False      # ours: servers are threads of the ranks, or there is no need of any
    multicast: bool = False     # ours: the network makes the copies
    plain_udp: bool = False     # on emulated hosts: as with a kernel without GSO and GRO for UDP
    loss: float = 0             # on emulated hosts: percent of UDP datagrams, at each of them
    streams: bool = False       # on emulated hosts: beside a TCP stream from each one to the next
    proof: tuple = ()           # arguments of mpirun, and what it prints then if it is used

    @property
    def scheme(self):
        """Which limit applies."""
        if self.multicast:
            return "peers"      # the same: a host receives what it lacks
        if self.kind == "ours":
            return "servers"
        return "all" if self.hosts == "all" else "peers"


def naps(contestant, setup):
    """True if it is to run with the shim that sleeps where an MPI polls in vain."""
    if contestant.nap is not None:
        return contestant.nap
    return setup.nap and contestant.kind != "ours"


def mca(*pairs):
    """mpirun arguments of NAME=VALUE."""
    return tuple(word for pair in pairs for word in ("--mca", *pair.split("=", 1)))


def tuned(collective, algorithm, *more):
    """Open MPI's algorithm of that number, forced."""
    name = f"coll_tuned_{collective}_algorithm"
    return mca("coll_tuned_use_dynamic_rules=1", f"{name}={algorithm}",
               *(f"{name}_{setting}" for setting in more))


HAN = Contestant("han", "Open MPI, HAN", arguments=mca("coll_han_priority=100"),
                 proof=(mca("coll_base_verbose=10"), r"selecting +han, priority +100, Enabled"))
DEFAULT = Contestant("default", "Open MPI, default decision")
UCC = Contestant("ucc", "Open MPI, coll/ucc",
                 arguments=mca("coll_ucc_enable=1", "coll_ucc_priority=100"),
                 proof=(mca("coll_base_verbose=10"), r"selecting +ucc, priority +100, Enabled"))
MPICH = Contestant("mpich", "MPICH", mpi="mpich")
MPICH_NONBLOCKING = Contestant("mpich-nonblocking", "MPICH, nonblocking", mpi="mpich",
                               program=("--nonblocking",))
NONBLOCKING = Contestant("nonblocking", "Open MPI, nonblocking (libnbc)",
                         program=("--nonblocking",))
OURS = Contestant("optcast", "optcast", kind="ours")


# It sleeps as its peers do: MPICH polls beside what is offloaded.
OURS_MPICH = Contestant("optcast-mpich", "optcast under MPICH", mpi="mpich", kind="ours", nap=True)
PROGRESS_MPI = Contestant("optcast-progress-mpi", "optcast, progress=mpi", kind="ours", settings=("progress=mpi",))


TEST = ("--test", "1000")
NONBLOCKING_TEST = Contestant("nonblocking-test", "Open MPI, nonblocking, MPI_Test every ms",
                              program=("--nonblocking", *TEST))


def chunks(kibibytes, window):
    """Ours with chunks of that size, and so many of them in flight to a server."""
    return Contestant(f"optcast-{kibibytes}x{window}",
                      f"optcast, {window} chunks of {kibibytes} KiB", kind="ours",
                      settings=(f"chunk_size={kibibytes * 1024}", f"window={window}"))


def beside(name, label, *settings, **more):
    """Ours, whose iterations take turns, in the same launch, with those without the component."""
    return Contestant(name, label, kind="ours", settings=settings, program=("--compare",), **more)


def multicast(name, label, *settings, **more):
    """Ours where no servers are needed."""
    return Contestant(name, label, kind="ours", embedded=True, multicast=True,
                      settings=("multicast=udp", *settings), **more)


MULTICAST = (
    multicast("optcast", "optcast"),
    multicast("optcast-mpich", "optcast under MPICH", mpi="mpich", nap=True),
    multicast("optcast-chain", "optcast, chain", "multicast_senders=1"),
    multicast("optcast-plain", "optcast, without GSO", plain_udp=True),
    *(multicast(f"optcast-loss-{percent}", f"optcast, {percent} % lost", loss=percent)
      for percent in (1, 5)),
    multicast("optcast-progress-mpi", "optcast, progress=mpi", "progress=mpi"),
    multicast("optcast-test", "optcast, progress=mpi, MPI_Test every ms", "progress=mpi", program=TEST),
    multicast("optcast-rank", "optcast, each rank receives", "multicast_receiver=rank"),
    multicast("optcast-streams", "optcast, beside TCP", streams=True),
    # the iterations without the component take turns with its own, in the same launch
    multicast("optcast-auto", "optcast, mode auto", "mode=auto", program=("--compare",)),
)

# Of collectives whose result goes to some ranks only.
OWNED = (
    OURS, PROGRESS_MPI,
    Contestant("embedded-progress-mpi", "embedded servers, progress=mpi", kind="ours", embedded=True,
               settings=("progress=mpi",)),
    Contestant("embedded-test", "embedded servers, progress=mpi, MPI_Test every ms", kind="ours", embedded=True,
               settings=("progress=mpi",), program=TEST),
    Contestant("optcast-nonblocking", "optcast, nonblocking", kind="ours",
               program=("--nonblocking",)),
    Contestant("embedded", "optcast, embedded servers", kind="ours", embedded=True),
    beside("optcast-auto", "optcast, mode auto", "mode=auto"),
    beside("embedded-auto", "embedded servers, mode auto", "mode=auto", embedded=True),
    Contestant("embedded-nonblocking", "optcast, embedded servers, nonblocking", kind="ours",
               embedded=True, program=("--nonblocking",)),
)

# Of two operations at once, which are nonblocking. Multicast and servers both have their part.
PAIR = (
    NONBLOCKING, MPICH,
    Contestant("optcast", "optcast", kind="ours", settings=("multicast=udp",)),
    Contestant("optcast-mpich", "optcast under MPICH", mpi="mpich", kind="ours", settings=("multicast=udp",), nap=True),
    Contestant("optcast-one", "optcast, one communicator", kind="ours", settings=("multicast=udp",),
               program=("--same-communicator",)),
    Contestant("optcast-beside", "optcast, reduce_scatter_beside=allgather", kind="ours",
               settings=("multicast=udp", "reduce_scatter_beside=allgather")),
    Contestant("embedded", "optcast, embedded servers", kind="ours", embedded=True, settings=("multicast=udp",)),
    Contestant("embedded-one", "optcast, embedded servers, one communicator", kind="ours", embedded=True,
               settings=("multicast=udp",), program=("--same-communicator",)),
)

RING = Contestant("ring", "Open MPI, ring", arguments=tuned("allreduce", 4))

TABLE = {
    "allreduce": (
        RING,
        Contestant("segmented-ring", "Open MPI, segmented ring",
                   arguments=tuned("allreduce", 5, "segmentsize=131072")),
        DEFAULT,
        Contestant("rabenseifner", "Open MPI, Rabenseifner", arguments=tuned("allreduce", 6)),
        Contestant("recursive-doubling", "Open MPI, recursive doubling",
                   arguments=tuned("allreduce", 3)),
        Contestant("reduce-bcast", "Open MPI, reduce and bcast", arguments=tuned("allreduce", 2)),
        Contestant("linear", "Open MPI, linear", arguments=tuned("allreduce", 1)),
        HAN, UCC, NONBLOCKING, MPICH, MPICH_NONBLOCKING, OURS, OURS_MPICH, PROGRESS_MPI,
        Contestant("optcast-nonblocking", "optcast, nonblocking", kind="ours", program=("--nonblocking",)),
        Contestant("optcast-nonblocking-progress-mpi", "optcast, nonblocking, progress=mpi", kind="ours",
                   settings=("progress=mpi",), program=("--nonblocking",)),
        Contestant("optcast-in-place", "optcast, in place", kind="ours", program=("--in-place",)),
        Contestant("optcast-recovery", "optcast, recovery=on", kind="ours", settings=("recovery=on",)),
        Contestant("optcast-recovery-in-place", "optcast, recovery=on, in place", kind="ours", settings=("recovery=on",),
                   program=("--in-place",)),
        Contestant("embedded", "optcast, embedded servers", kind="ours", embedded=True),
        beside("optcast-always", "optcast, mode always"),
        beside("optcast-auto", "optcast, mode auto", "mode=auto"),
        beside("embedded-always", "embedded servers, mode always", embedded=True),
        beside("embedded-auto", "embedded servers, mode auto", "mode=auto", embedded=True),
        *(chunks(size, window) for size in (16, 64) for window in (2, 4, 8)),
        Contestant("ring-all", "Open MPI, ring over all hosts", kind="other", hosts="all",
                   arguments=RING.arguments),
        Contestant("ring-nap", "Open MPI, ring, with nap", arguments=RING.arguments, nap=True),
        Contestant("ring-no-nap", "Open MPI, ring, without nap", arguments=RING.arguments,
                   nap=False),
        Contestant("optcast-nap", "optcast, with nap", kind="ours", nap=True),
        Contestant("optcast-no-nap", "optcast, without nap", kind="ours", nap=False),
    ),
    "allgather": (
        Contestant("ring", "Open MPI, ring", arguments=tuned("allgather", 4)),
        Contestant("neighbor", "Open MPI, neighbor exchange", arguments=tuned("allgather", 5)),
        DEFAULT, NONBLOCKING, NONBLOCKING_TEST, UCC, MPICH, MPICH_NONBLOCKING, *MULTICAST,
    ),
    "bcast": (
        Contestant("chain", "Open MPI, chain (fanout 1, 128 KiB)",
                   arguments=tuned("bcast", 2, "segmentsize=131072", "chain_fanout=1")),
        Contestant("pipeline", "Open MPI, pipeline (128 KiB)",
                   arguments=tuned("bcast", 3, "segmentsize=131072")),
        Contestant("scatter-ring", "Open MPI, scatter and ring", arguments=tuned("bcast", 9)),
        DEFAULT, UCC, MPICH, *MULTICAST,
    ),
    "reduce_scatter_block": (
        # the reduction before it is what tuned decides: without segments
        Contestant("linear", "Open MPI, linear", arguments=tuned("reduce_scatter_block", 1)),
        Contestant("doubling", "Open MPI, recursive doubling",
                   arguments=tuned("reduce_scatter_block", 2)),
        Contestant("halving", "Open MPI, recursive halving",
                   arguments=tuned("reduce_scatter_block", 3)),
        Contestant("butterfly", "Open MPI, butterfly",
                   arguments=tuned("reduce_scatter_block", 4)),
        DEFAULT, NONBLOCKING, NONBLOCKING_TEST, UCC, MPICH, MPICH_NONBLOCKING, *OWNED,
    ),
    "reduce_scatter": (
        Contestant("ring", "Open MPI, ring", arguments=tuned("reduce_scatter", 3)),
        Contestant("halving", "Open MPI, recursive halving", arguments=tuned("reduce_scatter", 2)),
        Contestant("butterfly", "Open MPI, butterfly", arguments=tuned("reduce_scatter", 4)),
        DEFAULT, NONBLOCKING, MPICH, MPICH_NONBLOCKING, *OWNED,
    ),
    "barrier": OWNED,
    **dict.fromkeys(("pair", "allreduce+allgather", "allreduce+allreduce", "bcast+reduce"), PAIR),
    "reduce": (
        Contestant("pipeline", "Open MPI, pipeline (128 KiB)",
                   arguments=tuned("reduce", 3, "segmentsize=131072")),
        Contestant("binomial", "Open MPI, binomial tree (128 KiB)",
                   arguments=tuned("reduce", 5, "segmentsize=131072")),
        Contestant("rabenseifner", "Open MPI, Rabenseifner", arguments=tuned("reduce", 7)),
        # as its decision takes them: in one piece
        Contestant("linear", "Open MPI, linear", arguments=tuned("reduce", 1)),
        Contestant("chain", "Open MPI, chain", arguments=tuned("reduce", 2, "chain_fanout=1")),
        Contestant("binary", "Open MPI, binary tree", arguments=tuned("reduce", 4)),
        Contestant("binomial-whole", "Open MPI, binomial tree", arguments=tuned("reduce", 5)),
        DEFAULT, NONBLOCKING, HAN, UCC, MPICH, MPICH_NONBLOCKING, *OWNED,
    ),
}


def find(collective, name):
    """The contestant of that name."""
    for contestant in TABLE[collective]:
        if contestant.name == name:
            return contestant
    raise KeyError(f"{collective} has no contestant {name}")


def of_component(component, mode="always", servers="embedded", settings=()):
    """mpirun arguments that make Open MPI use coll/optcast out of the folder COMPONENT."""
    # Open MPI refuses a parameter that is given twice
    chosen = {"mode": mode, "servers": servers, **dict(s.split("=", 1) for s in settings)}
    return ("-x", f"OMPI_MCA_mca_base_component_path={component}:SYSTEM_DEFAULT",
            *mca(*(f"coll_optcast_{name}={value}" for name, value in chosen.items())))


def of_library(mode="always", servers="embedded", settings=()):
    """mpiexec arguments with the settings of the library for MPICH, which has to be preloaded."""
    chosen = {"mode": mode, "servers": servers, **dict(s.split("=", 1) for s in settings)}
    return tuple(word for name, value in chosen.items()
                 for word in ("-env", f"OPTCAST_{name.upper()}", value))
