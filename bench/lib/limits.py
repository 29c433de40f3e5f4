# SPDX-License-Identifier: BSD-3-Clause
"""Owns what links allow at best: seconds and bus bandwidth factors. No measurements.

M is the vector in bytes, B the rate of a link in each direction, h the hosts with ranks, k those
with servers. Hosts reduce or gather inside before anything leaves them.
"""
import math

# Collectives of which a host sends or receives all but its own part.
BLOCKS = ("allgather", "allgatherv", "reduce_scatter", "reduce_scatter_block")

# Short for two of them at once, as optcast-perf has it.
PAIR = {"pair": "allgather+reduce_scatter_block"}

# A full packet on the wire, and what it carries of the user.
HEADERS = 1514 / 1448


def link(size, rate):
    """Seconds that SIZE bytes take on a link of RATE Mbit/s, without headers: M/B."""
    return size * 8 / (rate * 1e6)


def ring(hosts, size, rate):
    """Allreduce among the hosts themselves: 2(h-1)/h M/B, by a ring or by anything else."""
    return 2 * (hosts - 1) / hosts * link(size, rate)


def is_pair(collective):
    """Whether two operations are measured at once."""
    return collective == "pair" or "+" in collective


def servers(collective, hosts, count, size, rate):
    """By COUNT server hosts, and by hosts with ranks as far as those are too few. Only of an Allreduce do servers
    lower the limit: whatever is owned by one rank has to leave the others once, and to reach it once."""
    if is_pair(collective):
        return together(collective, hosts, count) * link(size, rate)
    if collective != "allreduce":
        return peers(collective, hosts, size, rate)
    part = 1
    if count < hosts:
        part = 2 * hosts * (hosts - 1) / (hosts * hosts + count * hosts - 2 * count)
    return part * link(size, rate)


def pair(hosts, count):
    """Vectors that the busiest link carries of an Allgather by multicast beside a Reduce_scatter_block, of which COUNT
    servers aggregate the share that ends both first; doc/architecture.md has the formula."""
    others = (hosts - 1) / hosts
    share = min(1, 2 * (hosts - 1) * count / ((hosts - 2) * count + hosts * (hosts - 1)))
    incoming = others + share / hosts + (1 - share) * others
    return max(1, incoming, share * (hosts - 1) / count if count else 0)


def together(collective, hosts, count):
    """The same of two operations at once, by multicast and by no servers or as many as there are hosts. The root of a
    Reduce sends its own vector, too, so that a Bcast by the same root does not fit beside it."""
    others = (hosts - 1) / hosts
    if collective == "pair":
        return pair(hosts, count)
    loads = {"allreduce": 1 if count else 2 * others, "allgather": others, "bcast": 1, "reduce": 1}
    return sum(loads[name] for name in collective.split("+"))


def together_by_peers(collective, hosts):
    """The same by unicast between the hosts themselves."""
    loads = {"allreduce": 2, "pair": 2}     # times others; 1 if not here
    return sum(loads.get(name, 1) for name in collective.split("+")) * (hosts - 1) / hosts


def tree(hosts, leaves, size, rate):
    """Allreduce by a tree: a leaf's link carries a vector for each of its hosts and one more."""
    return max(-(-hosts // leaves) + 1, leaves) * link(size, rate)


def unequal(hosts, first, size, rate):
    """Reduce_scatter of which one host owns FIRST percent, and the others equal parts: all but the own part goes out,
    and hosts that own little aggregate much, so that no more comes in."""
    large, small = first / 100, (1 - first / 100) / (hosts - 1)
    return max((hosts - 1) / hosts, large, 1 - large, 1 - small) * link(size, rate)


def peers(collective, hosts, size, rate):
    """The same for any collective without servers, by unicast."""
    if is_pair(collective):
        return together_by_peers(collective, hosts) * link(size, rate)
    if collective == "allreduce":
        return ring(hosts, size, rate)
    if collective in BLOCKS:
        return (hosts - 1) / hosts * link(size, rate)
    return link(size, rate)


def limit(scheme, setup, size):
    """Seconds of an iteration, or None without links. SCHEME: peers, servers, or all (all hosts are ranks)."""
    return setup.get("stream", 1) * limit_of_one(scheme, setup, size) if setup["rate"] else None


def limit_of_one(scheme, setup, size):
    """The same of one operation of a stream."""
    hosts = setup["hosts"]
    if setup.get("first") is not None:
        return unequal(hosts, setup["first"], size, setup["rate"])
    if scheme == "servers" and setup.get("tree") and setup["servers"] > 1:
        return tree(hosts, setup["servers"], size, setup["rate"])
    if scheme == "servers":
        return servers(setup["collective"], hosts, setup["servers"], size, setup["rate"])
    if scheme == "all":
        hosts += setup["servers"] + bool(setup.get("tree"))
    return peers(setup["collective"], hosts, size, setup["rate"])


def of_allreduce(hosts, ranks, per_host):
    """{algorithm of Open MPI: vectors that the busiest link carries, one after the other}"""
    steps = math.ceil(math.log2(hosts))
    return {"linear": 2 * (ranks - per_host), "reduce-bcast": 2 * steps, "recursive-doubling": steps * per_host,
            "ring": 2 * (ranks - 1) / ranks, "segmented-ring": 2 * (ranks - 1) / ranks,
            "rabenseifner": 2 * (hosts - 1) / hosts, "han": 2 * (hosts - 1) / hosts}


def of_reduce(hosts, ranks, per_host):
    """The same; trees and chains are without segments."""
    power = 1 << int(math.log2(hosts))
    halves = (hosts > power) + 2 * (power - 1) / power
    return {"linear": ranks - per_host, "chain": hosts - 1, "binary": max(2 * int(math.log2(hosts + 1)) - 2, 1),
            "binomial-whole": math.ceil(math.log2(hosts)), "rabenseifner": halves, "nonblocking": halves, "han": halves}


def of_reduce_scatter_block(hosts, ranks, per_host):
    """The same. Recursive halving exchanges halves between hosts first, butterfly inside; ranks beyond a power of two
    give all of a vector first. The Reduce of a linear one is what tuned takes for a long vector."""
    parts = (hosts - 1) / hosts
    folded = ranks & (ranks - 1) != 0
    reduced = hosts - 1 if ranks < 4 else ranks - per_host if ranks < 8 else math.ceil(math.log2(hosts))
    return {"linear": reduced + (ranks - per_host) / ranks,
            "doubling": per_host * (math.ceil(math.log2(hosts)) - parts),
            "halving": folded + per_host * parts, "butterfly": folded + parts}


VECTORS = {"allreduce": of_allreduce, "reduce": of_reduce, "reduce_scatter_block": of_reduce_scatter_block}


def algorithm(name, setup, size):
    """Seconds if that algorithm of Open MPI made use of all of a link, without latencies; as
    client/plan/previous.c has it."""
    hosts, per_host = setup["hosts"], setup["per_host"]
    vectors = VECTORS[setup["collective"]](hosts, hosts * per_host, per_host)
    return vectors[name] * link(size, setup["rate"])


def bus_factor(collective, ranks):
    """Of the vector, what each rank has to send in a collective without servers."""
    if is_pair(collective):
        return sum(bus_factor(name, ranks) for name in PAIR.get(collective, collective).split("+"))
    if collective == "allreduce":
        return 2 * (ranks - 1) / ranks
    if collective in BLOCKS:
        return (ranks - 1) / ranks
    return 1.0
