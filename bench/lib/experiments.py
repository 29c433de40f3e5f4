# SPDX-License-Identifier: BSD-3-Clause
"""Owns the table of experiments: hosts, servers, rates, sizes, and who is measured there."""
from dataclasses import dataclass, replace

KiB, MiB = 1 << 10, 1 << 20


@dataclass(frozen=True)
class Setup:
    """One cluster, one collective, one list of contestants."""
    name: str
    collective: str
    hosts: int
    contestants: tuple
    sizes: tuple
    servers: int = 0            # hosts that have a server and no ranks
    tree: bool = False          # they are leaves, and one more host has their parent
    rate: int = 200             # Mbit/s; 0: no links, all ranks are on this host
    per_host: int = 1
    nap: bool = True            # of peers
    latency: bool = False       # all sizes in one launch, many iterations
    shares: bool = False        # tells how much of a link each algorithm makes use of
    first: int = None           # percent of the vector that rank 0 owns; None: all own as much
    processor: bool = False     # tells what processor time an operation takes of each host
    snooping: bool = False      # the switch gives multicast to hosts that have joined, not to servers
    overlap: int = 0            # milliseconds outside MPI between start and wait; 0: it waits at once
    compute: bool = False       # the program computes meanwhile, each rank on a processor of its own
    operations_only: bool = False   # bytes are without those that a launch sends before its first operation
    stream: int = 1             # operations that an iteration starts before it waits for the first one
    baseline: str = ""          # the contestant that others are compared with; "": the best peer

    def title(self):
        """What a heading says."""
        hosts = f"{self.hosts} hosts" if self.hosts > 1 else "1 host"
        if self.servers:
            hosts += f" + {self.servers} with " + ("leaves + their parent" if self.tree
                                                    else "servers")
        owned = f", {self.first} % of one rank" if self.first is not None else ""
        stream = f", {self.stream} in a stream" if self.stream > 1 else ""
        outside = f", {self.overlap} ms {'of computing' if self.compute else 'outside MPI'}" if self.overlap else ""
        ranks = "1 rank" if self.per_host == 1 else f"{self.per_host} ranks"
        if self.hosts + self.servers > 1:
            ranks += " on each host"
        links = f", links of {self.rate} Mbit/s" if self.rate else ""
        links += ", IGMP snooping" if self.snooping else ""
        return f"{self.collective}{owned}{stream}{outside}: {hosts}{links}, {ranks}"


@dataclass(frozen=True)
class Experiment:
    """Setups that belong together, and one result file."""
    name: str
    title: str
    text: str
    setups: tuple
    hidden: bool = False        # not part of "all"


FEWER = (MiB, 4 * MiB, 16 * MiB)
ENDS = (MiB, 16 * MiB)
ALGORITHMS = ("ring", "segmented-ring", "recursive-doubling", "rabenseifner", "han", "reduce-bcast",
              "linear")
OWNED_ALGORITHMS = {
    "reduce": ("linear", "chain", "binary", "binomial-whole", "rabenseifner", "nonblocking", "han"),
    "reduce_scatter_block": ("linear", "doubling", "halving", "butterfly")}
SMALL = tuple(8 << i for i in range(14))
OURS = ("optcast", "optcast-plain", "optcast-chain")
LOSSES = ("optcast", "optcast-loss-1", "optcast-loss-5")

EXPERIMENTS = (
    Experiment(
        "allreduce-hosts", "Allreduce, servers on hosts of their own",
        "Large vectors, one rank on a host. With as many servers as hosts, each link carries the "
        "vector once.",
        (Setup("4+4", "allreduce", 4, ("ring", "ring-no-nap", "default", "rabenseifner", "ucc",
                                       "mpich", "optcast"), FEWER, servers=4),
         Setup("8+8", "allreduce", 8, ("ring", "segmented-ring", "ucc", "optcast"),
               (16 * MiB,), servers=8, rate=100),
         Setup("4+2", "allreduce", 4, ("ring", "segmented-ring", "optcast"), (4 * MiB,),
               servers=2),
         Setup("4+1", "allreduce", 4, ("ring", "segmented-ring", "optcast"), (4 * MiB,),
               servers=1))),
    Experiment(
        "hybrid", "Allreduce, fewer servers than hosts",
        "What servers are too few for the hosts reduce themselves, so that all links carry the same; "
        "without servers hosts do everything.",
        (Setup("8+0", "allreduce", 8, ("ring", "segmented-ring", "ucc", "embedded"), (16 * MiB,),
               rate=100, baseline="ring"),
         *(Setup(f"8+{count}", "allreduce", 8, ("ring", "segmented-ring", "ucc", "optcast"),
                 (16 * MiB,), servers=count, rate=100, baseline="ring") for count in (1, 2, 4)))),
    Experiment(
        "tree", "Allreduce, a tree of servers",
        "For more clients than one server takes: each leaf adds up what half of the hosts send, "
        "and their parent what the leaves send. A leaf's link carries the vector of each of its "
        "hosts and the partial result: a tree has room for more hosts, and is no faster than a "
        "ring.",
        (Setup("8+2+1", "allreduce", 8, ("ring", "optcast"), (16 * MiB,), servers=2, tree=True,
               baseline="ring"),)),
    Experiment(
        "line-rate", "Allreduce, more hosts and faster links",
        "As many servers as hosts. With faster links the processors of this machine, which all "
        "hosts share, have more to do.",
        (Setup("8+8", "allreduce", 8, ("default", "ring", "ring-no-nap", "segmented-ring",
                                       "rabenseifner", "han", "ucc", "mpich", "optcast"), (16 * MiB,), servers=8),
         Setup("8+8-500", "allreduce", 8, ("ring", "segmented-ring", "rabenseifner", "ucc",
                                           "optcast"), (64 * MiB,), servers=8, rate=500))),
    Experiment(
        "allreduce-all", "Allreduce, if the server hosts were ranks as well",
        "Servers cost hosts and links, too. A ring over all hosts reduces more vectors with the "
        "same links.",
        (Setup("4+4", "allreduce", 4, ("ring", "segmented-ring", "ring-all", "optcast"),
               (16 * MiB,), servers=4),)),
    Experiment(
        "chunks", "Allreduce, sizes of chunks and windows",
        "What a rank has in flight is chunk x window x servers. Before that has gone out, no "
        "result can come back, and at the end nothing is left to send: much in flight costs time "
        "at both ends of a vector. Too little, and links idle between chunks.",
        (Setup("4+4", "allreduce", 4, ("ring", "optcast-16x2", "optcast-16x4", "optcast-16x8",
                                       "optcast-64x2", "optcast-64x4", "optcast-64x8"),
               ENDS, servers=4),)),
    Experiment(
        "algorithms", "Allreduce, how much of a link Open MPI's algorithms use",
        "Mode auto compares with what Open MPI would run, and has to know how long that takes: the "
        "table of percents in `client/plan/previous.c` is for messages that are long.",
        tuple(Setup(f"{hosts}x{per_host}", "allreduce", hosts, ALGORITHMS, (64 * KiB, MiB, 16 * MiB),
                    per_host=per_host, shares=True)
              for hosts, per_host in ((2, 1), (4, 1), (8, 1), (4, 4)))),
    Experiment(
        "algorithms-owned", "Reduce and Reduce_scatter_block, how much of a link Open MPI's algorithms use",
        "As for Allreduce. Trees and chains are without segments, as Open MPI's own decision takes them.",
        tuple(Setup(f"{collective}-{hosts}x{per_host}", collective, hosts, names, (64 * KiB, 512 * KiB, 4 * MiB),
                    per_host=per_host, shares=True)
              for collective, names in OWNED_ALGORITHMS.items()
              for hosts, per_host in ((3, 1), (4, 1), (8, 1), (4, 4)))),
    Experiment(
        "allgather-hosts", "Allgather",
        "By UDP multicast, without losses. The size is that of the gathered vector.",
        (Setup("8", "allgather", 8, ("default", "ring", "neighbor", "ucc", "mpich", *OURS), FEWER),
         Setup("4", "allgather", 4, ("ring", "neighbor", "default", "nonblocking", "ucc", "mpich",
                                     "mpich-nonblocking", *OURS), ENDS))),
    Experiment(
        "allgather-nodes", "Allgather, one and four ranks on each host",
        "By UDP multicast. One rank of each host receives for all of them, or each rank for itself. What "
        "an operation takes of the processors counts all that its ranks do until it is over, copies and "
        "waiting included. Peers poll, with a shim that sleeps where they poll in vain.",
        tuple(Setup(f"4x{per_host}", "allgather", 4, ("ring", "neighbor", "default", "optcast", *more), (16 * MiB,),
                    per_host=per_host, processor=True)
              for per_host, more in ((1, ()), (4, ("optcast-rank",))))),
    Experiment(
        "bcast-hosts", "Bcast", "By UDP multicast, without losses.",
        (Setup("8", "bcast", 8, ("chain", "pipeline", "scatter-ring", "default", "ucc", "mpich",
                                 "optcast", "optcast-plain"), FEWER),
         Setup("4", "bcast", 4, ("chain", "pipeline", "scatter-ring", "default", "ucc", "mpich",
                                 "optcast", "optcast-plain"), ENDS))),
    Experiment(
        "losses", "Allgather and Bcast where datagrams are lost",
        "Each host loses that share of the datagrams that arrive, at random and independently of "
        "the others. What is sent in large pieces is lost in large pieces.",
        (Setup("8-allgather", "allgather", 8, LOSSES, (16 * MiB,), baseline="optcast"),
         Setup("8-bcast", "bcast", 8, LOSSES, (16 * MiB,), baseline="optcast"))),
    Experiment(
        "simulate", "Allgather and Bcast by multicast, simulated",
        "The protocol of the component in virtual time, on networks that are not here. What emulated "
        "hosts take in the same run tells how true that is: bytes are those of operations, without what a "
        "launch sends before its first one.",
        (*(Setup(f"{hosts}-{collective}", collective, hosts, ("optcast",), (4 * MiB, 16 * MiB), operations_only=True)
           for collective in ("allgather", "bcast") for hosts in (4, 8, 16)),
         Setup("4x4-allgather", "allgather", 4, ("optcast-rank",), (4 * MiB, 16 * MiB), per_host=4,
               operations_only=True),
         Setup("4-allgather-tcp", "allgather", 4, ("optcast-streams",), (16 * MiB,)))),
    Experiment(
        "small-allgather", "Allgather and Bcast, small messages",
        "Latency, in mode auto, which leaves small messages to Open MPI: what it costs that the "
        "component is there. Sizes of Allgather are of all ranks together: 8 B to 4 KiB of each.",
        (Setup("4-allgather", "allgather", 4, ("optcast-auto",),
               tuple(32 << i for i in range(10)), nap=False, latency=True),
         Setup("4-bcast", "bcast", 4, ("optcast-auto",), tuple(8 << i for i in range(10)),
               nap=False, latency=True))),
    Experiment(
        "small-owned", "Reduce, Reduce_scatter_block and Barrier, small messages",
        "Latency, in mode auto, which leaves these to Open MPI: what it costs that the component is there. 0 B: "
        "Barrier.",
        (Setup("4-barrier", "barrier", 4, ("optcast-auto",), (0,), servers=4, nap=False, latency=True),
         Setup("4-reduce", "reduce", 4, ("optcast-auto",), SMALL[:8], servers=4, nap=False, latency=True),
         Setup("4-reduce_scatter_block", "reduce_scatter_block", 4, ("optcast-auto",),
               tuple(32 << i for i in range(8)), servers=4, nap=False, latency=True),
         Setup("1x2-barrier", "barrier", 1, ("embedded-auto",), (0,), rate=0, per_host=2, nap=False, latency=True),
         Setup("1x2-reduce", "reduce", 1, ("embedded-auto",), SMALL[:8], rate=0, per_host=2, nap=False,
               latency=True))),
    Experiment(
        "reduce-scatter-hosts", "Reduce_scatter_block",
        "The size is that of the vector that is reduced. Each rank sends what it does not own; servers do not "
        "change the limit.",
        (Setup("8", "reduce_scatter_block", 8,
               ("halving", "butterfly", "default", "nonblocking", "ucc", "mpich", "mpich-nonblocking",
                "embedded", "embedded-nonblocking"), (16 * MiB,)),
         Setup("8+8", "reduce_scatter_block", 8,
               ("butterfly", "ucc", "mpich-nonblocking", "optcast", "optcast-nonblocking"),
               (16 * MiB,), servers=8, rate=100),
         Setup("4", "reduce_scatter_block", 4,
               ("halving", "butterfly", "default", "nonblocking", "ucc", "mpich",
                "mpich-nonblocking", "embedded"), FEWER),
         Setup("4x4+4", "reduce_scatter_block", 4,
               ("butterfly", "default", "ucc", "optcast", "embedded"), (16 * MiB,), servers=4,
               per_host=4, rate=100))),
    Experiment(
        "reduce-scatter-unequal", "Reduce_scatter, half of the vector is one rank's",
        "A host sends all but what it owns: that is the limit, with servers or without. Where the owner of a large "
        "block reduced it alone, its link would carry three and a half vectors.",
        (*(Setup(f"8+{servers}", "reduce_scatter", 8,
                 ("ring", "halving", "butterfly", "default", "mpich", "mpich-nonblocking", ours), (16 * MiB,),
                 servers=servers, rate=100, first=50)
           for servers, ours in ((0, "embedded"), (2, "optcast"), (8, "optcast"))),)),
    Experiment(
        "reduce-hosts", "Reduce",
        "The link of the root is the limit, with servers or without.",
        (Setup("8", "reduce", 8,
               ("pipeline", "binomial", "rabenseifner", "default", "nonblocking", "ucc", "mpich",
                "mpich-nonblocking", "embedded", "embedded-nonblocking"), (16 * MiB,)),
         Setup("8+8", "reduce", 8,
               ("pipeline", "rabenseifner", "mpich", "optcast", "optcast-nonblocking"),
               (16 * MiB,), servers=8, rate=100))),
    Experiment(
        "overlap", "Nonblocking collectives while the program computes",
        "One second outside MPI between start and wait, asleep, since all ranks share the processors here. In turns "
        "with these, operations are waited for at once: their own time. Hidden is the part of it that the program "
        "does not wait for.",
        (Setup("8-allgather", "allgather", 8, ("nonblocking", "mpich-nonblocking", "optcast", "optcast-progress-mpi"),
               (16 * MiB,), overlap=1000),
         *(Setup(f"8+8-{collective}", collective, 8,
                 ("nonblocking", "mpich-nonblocking", "optcast", "optcast-progress-mpi"), (8 * MiB,), servers=8,
                 rate=100, overlap=1000)
           for collective in ("allreduce", "reduce_scatter_block")),
         Setup("8-reduce_scatter_block", "reduce_scatter_block", 8, ("embedded", "embedded-progress-mpi"), (8 * MiB,),
               rate=100, overlap=1000))),
    Experiment(
        "computing", "What a program that computes loses",
        "Two ranks multiply matrices, each on a processor of its own, while an operation moves; there is no other "
        "processor, and the kernel's work for the network is also theirs. Before, the same operations by themselves, "
        "blocking: what processor time they take.",
        (*(Setup(f"2-{collective}-alone", collective, 2, (ours,), (16 * MiB,), processor=True)
           for collective, ours in (("allgather", "optcast"), ("reduce_scatter_block", "embedded"))),
         Setup("2-allgather", "allgather", 2,
               ("nonblocking", "nonblocking-test", "optcast", "optcast-progress-mpi", "optcast-test"), (16 * MiB,),
               overlap=1000, compute=True, nap=False),
         Setup("2-reduce_scatter_block", "reduce_scatter_block", 2,
               ("nonblocking", "nonblocking-test", "embedded", "embedded-progress-mpi", "embedded-test"), (16 * MiB,),
               overlap=1000, compute=True, nap=False))),
    Experiment(
        "pair", "Two collectives at once",
        "Sharded training gathers the parameters of one layer while the gradients of another are reduced: an Allgather by "
        "multicast beside a Reduce_scatter_block, each of one vector. With servers a host's link carries one vector "
        "each way, where peers need nearly two. Beside an Allreduce it carries 1 + (h-1)/h vectors. A switch without IGMP "
        "snooping gives what is multicast also to the servers, whose links are then the limit.",
        (Setup("8+8", "pair", 8, ("nonblocking", "mpich", "optcast", "optcast-one"), (16 * MiB,), servers=8, rate=100,
               snooping=True),
         Setup("4+4", "pair", 4, ("mpich", "optcast", "optcast-one"), (16 * MiB,), servers=4, snooping=True),
         Setup("8", "pair", 8, ("mpich", "embedded"), (16 * MiB,), rate=100, snooping=True),
         Setup("8+4", "pair", 8, ("optcast", "optcast-beside"), (16 * MiB,), servers=4, rate=100, snooping=True),
         Setup("8+8-flooded", "pair", 8, ("optcast",), (16 * MiB,), servers=8, rate=100),
         *(Setup(f"4+4-{collective}", collective, 4, ("nonblocking", "optcast"), (16 * MiB,), servers=4, snooping=True)
           for collective in ("allreduce+allgather", "allreduce+allreduce", "bcast+reduce")),
         Setup("8+8-allreduce+allgather", "allreduce+allgather", 8, ("nonblocking", "optcast"), (16 * MiB,), servers=8,
               rate=100, snooping=True))),
    Experiment(
        "mpich", "Programs of MPICH",
        "The library for MPICH beside MPICH by itself and the peers of Open MPI. MPICH polls while an offloaded "
        "operation is under way, so ranks that are offloaded have the shim that sleeps where it polls in vain, too.",
        (Setup("8+8-allreduce", "allreduce", 8, ("ring", "segmented-ring", "default", "rabenseifner", "han", "ucc",
                                                 "mpich", "optcast-mpich"), (16 * MiB,), servers=8, rate=100),
         Setup("8+8-pair", "pair", 8, ("nonblocking", "mpich", "optcast-mpich"), (16 * MiB,), servers=8, rate=100,
               snooping=True))),
    Experiment(
        "mpich-multicast", "Programs of MPICH, by multicast",
        "The same of a Bcast and an Allgather. Ranks that wait leave their processors to others "
        "(OPTCAST_POLLING=yield), as they do under Open MPI here, since all hosts share two.",
        (Setup("8-bcast", "bcast", 8, ("chain", "pipeline", "scatter-ring", "default", "ucc", "mpich",
                                       "optcast-mpich"), (16 * MiB,)),
         Setup("8-allgather", "allgather", 8, ("default", "ring", "neighbor", "ucc", "mpich", "optcast-mpich"),
               (16 * MiB,)))),
    Experiment(
        "recovery", "Allreduce that survives the loss of servers",
        "What it costs, while nothing fails, that a job could go on after the loss of a server "
        "(coll_optcast_recovery=on): an account of chunks, and a copy of results in place where a rank is alone on its host.",
        (Setup("4+4", "allreduce", 4, ("optcast", "optcast-recovery", "optcast-in-place", "optcast-recovery-in-place"),
               (64 * KiB, 16 * MiB), servers=4, baseline="optcast"),
         Setup("4x2+4", "allreduce", 4, ("optcast", "optcast-recovery", "optcast-in-place", "optcast-recovery-in-place"),
               (16 * MiB,), servers=4, per_host=2, baseline="optcast"))),
    Experiment(
        "prefetch", "Allgathers started ahead",
        "Programs that fetch parameters ahead start Allgathers before they need the result of the first: here twenty of "
        "one communicator are started together, each of a vector of its own, and then all are waited for. Where a "
        "share of the datagrams is lost, each host loses it of those that arrive, at random and independently of the others.",
        (Setup("8", "allgather", 8, ("nonblocking", "mpich-nonblocking", "optcast", "optcast-loss-1"),
               (256 * KiB, MiB, 4 * MiB), stream=20, baseline="optcast"),)),
    Experiment(
        "training", "Training with sharded parameters",
        "A program that gathers each layer's parameters while the layer before computes, and reduces the gradients of one "
        "while the next one of the backward pass does.", ()),
    Experiment(
        "small-messages", "Allreduce, small messages",
        "Latency, without the nap. MPICH is not among the peers: it does not yield the processor, "
        "and all ranks share few cores here.",
        (Setup("4+4", "allreduce", 4, ("default", "recursive-doubling", "optcast"), SMALL,
               servers=4, nap=False, latency=True),)),
    Experiment(
        "small-nonblocking", "Allreduce of 8 bytes, blocking and nonblocking",
        "What it costs that a thread would move nonblocking operations on while the program computes, where it has nothing "
        "to do: each operation is waited for at once.",
        (Setup("4+4-blocking", "allreduce", 4, ("optcast", "optcast-progress-mpi"), SMALL[:1], servers=4, nap=False,
               latency=True, baseline="optcast-progress-mpi"),
         Setup("4+4-nonblocking", "allreduce", 4, ("optcast-nonblocking", "optcast-nonblocking-progress-mpi"), SMALL[:1],
               servers=4, nap=False, latency=True, baseline="optcast-nonblocking-progress-mpi"))),
    Experiment(
        "one-node", "Allreduce on one host, embedded servers",
        "Servers as threads of the ranks, and all operations offloaded (mode always): what that "
        "costs where it should not be used.",
        (Setup("4-ranks", "allreduce", 1, ("default", "ring", "embedded"),
               (4 * KiB, 64 * KiB, MiB, 16 * MiB), rate=0, per_host=4, nap=False),)),
    Experiment(
        "auto", "Allreduce, what mode auto chooses",
        "Mode auto offloads what it expects to be faster, mode always everything: from which size "
        "offload itself is faster, and whether auto ever costs time. Ratios are those of the same "
        "launch, with iterations without the component in turns, nobody with the nap.",
        (Setup("4+4", "allreduce", 4, ("optcast-always", "optcast-auto"), SMALL, servers=4,
               nap=False, latency=True),
         Setup("4-ranks", "allreduce", 1, ("embedded-always", "embedded-auto"), SMALL, rate=0,
               per_host=4, nap=False, latency=True),
         Setup("4+4-large", "allreduce", 4, ("optcast-always", "optcast-auto"), ENDS, servers=4,
               nap=False),
         Setup("4-ranks-large", "allreduce", 1, ("embedded-always", "embedded-auto"), ENDS, rate=0,
               per_host=4, nap=False))),
    Experiment(
        "allreduce-nodes", "Allreduce, four ranks on each host",
        "Hosts reduce inside before anything leaves them, so that each link carries the vector "
        "once. Ranks are mapped by block: a ring leaves each host once, too. Twenty processes share "
        "the processors of this machine, which slower links leave more time to.",
        (Setup("4x4+4", "allreduce", 4, ("default", "ring", "segmented-ring", "han", "ucc",
                                         "optcast", "optcast-nap"), (16 * MiB,), servers=4, per_host=4),
         Setup("4x4+4-100", "allreduce", 4, ("ring", "segmented-ring", "optcast", "optcast-nap"),
               (16 * MiB,), servers=4, rate=100, per_host=4))),
    Experiment(
        "courtesy", "Allreduce, with and without the nap",
        "Peers are measured with a shim that sleeps where MPI polls in vain, ours without it. "
        "This is what the shim does to both.",
        (Setup("4+4", "allreduce", 4, ("ring-nap", "ring-no-nap", "optcast-nap", "optcast-no-nap"),
               ENDS, servers=4),)),
    Experiment(
        "reduction", "Reduction at memory speed",
        "Gigabytes of inputs that one processor reduces in a second, in place, as a server does, "
        "and the limit: the fastest of several loops that only read as many streams and write "
        "one. Kernels and loops take turns on the same memory.", ()),
    Experiment(
        "scale", "What an aggregator uses of a processor",
        "Processor time of the thread that aggregates, in a server of its own, without MPI: whether "
        "it grows with the number of groups, and what a gigabyte of contributions takes over TCP.",
        ()),
    Experiment(
        "size", "Thousands of ranks",
        "One server and thousands of clients, which are control connections of a few processes, "
        "without MPI: whether all get in at once, what heartbeats cost, how many communicators fit, "
        "and memory.", ()),
    Experiment(
        "regret", "What mode auto gives away",
        "Nothing is set but the rate of the links, in a file of rules. In each launch iterations with "
        "and without the component take turns, in one launch in mode auto, in the next one in mode "
        "always; nobody with the nap. Open MPI is that of the launches in mode auto. A cell is "
        "missed if all launches are slower than all of the better one.", ()),
    Experiment(
        "settings", "Settings and their defaults",
        "What kinds of pages, and ways to wait, are worth on one host.", ()),
    Experiment(
        "smoke", "A test of the program itself", "These numbers mean nothing.",
        (Setup("2+1", "allreduce", 2, ("ring", "optcast"), (16 * KiB, 64 * KiB), servers=1),),
        hidden=True),
)


def find(name):
    """The experiment of that name, or None."""
    return next((e for e in EXPERIMENTS if e.name == name), None)


def order(name):
    """Where it belongs in a report."""
    return next((i for i, e in enumerate(EXPERIMENTS) if e.name == name), len(EXPERIMENTS))


def shorten(setups):
    """For --quick: two setups, with two sizes that do not take long."""
    chosen = []
    for setup in setups[:2]:
        fast = [size for size in setup.sizes if size <= MiB]
        sizes = setup.sizes[::4] if setup.latency else fast[-2:] or [MiB]
        chosen.append(replace(setup, sizes=tuple(sizes)))
    return tuple(chosen)


def with_rates(setups, rates):
    """Setups with links, at each of the rates; the others once."""
    chosen = [s for s in setups if not s.rate]
    for rate in rates:
        chosen += [replace(s, rate=rate, name=f"{s.name}-{rate}") for s in setups if s.rate]
    return tuple(chosen)
