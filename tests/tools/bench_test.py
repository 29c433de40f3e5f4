# SPDX-License-Identifier: BSD-3-Clause
"""Owns the tests of what bench/ computes, says, and does about launches that hang."""
import dataclasses
import json
import os
import pathlib
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import unittest
from unittest import mock

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(REPO / "bench"))

from lib import (cluster, contestants, experiments, facts, interrupt, launch, limits,  # noqa: E402
                 measure, paths, places, plot, program, publish, reduction, regret, report,
                 results, scale, simulate, text, training)

MiB = 1 << 20
RECORDED = pathlib.Path(__file__).with_name("bench-result.json")


def setup(**changes):
    """What a result file has of a setup."""
    return {"collective": "allreduce", "hosts": 4, "servers": 4, "rate": 200, "per_host": 1,
            **changes}


def row(name, kind, median, spread=0.0, size=MiB, offloaded=None):
    """A row with as many operations as were possible."""
    contestant = {"name": name, "label": name, "kind": kind, "scheme": "peers"}
    return results.Row(contestant, size, median, median - spread, median + spread, 5, 1.0,
                       offloaded, 15, None)


class Program(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "counts"
        work = mock.patch.object(paths, "WORK", pathlib.Path(folder.name))
        work.start()
        self.addCleanup(work.stop)

    def play(self, script, seconds=30):
        self.path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        self.path.chmod(0o755)
        return program.play(self.path, ["--rounds", 3], seconds, "counting")

    def test_numbers(self):
        self.assertEqual(self.play('echo "[$2]" >"$4"'), [3])

    def test_errors_name_task_and_words(self):
        with self.assertRaisesRegex(cluster.PlaceError, r"counting failed \(counts --rounds 3\): no"):
            self.play('echo no >&2; echo "[1]" >"$4"; exit 1')
        with self.assertRaisesRegex(cluster.PlaceError, "counting failed: .*timed out"):
            self.play("exec sleep 60", 0.1)


class Limits(unittest.TestCase):
    def near(self, value, times, size=16 * MiB, rate=200):
        self.assertAlmostEqual(value, times * size * 8 / (rate * 1e6), places=9)

    def test_ring(self):
        self.near(limits.limit("peers", setup(), 16 * MiB), 1.5)
        self.near(limits.limit("peers", setup(hosts=8), 16 * MiB), 1.75)

    def test_servers(self):
        self.near(limits.limit("servers", setup(), 16 * MiB), 1)
        self.near(limits.limit("servers", setup(servers=6), 16 * MiB), 1)
        self.near(limits.limit("servers", setup(servers=0), 16 * MiB), 1.5)
        self.near(limits.limit("servers", setup(servers=1), 16 * MiB), 4 / 3)
        self.near(limits.limit("servers", setup(servers=2), 16 * MiB), 1.2)
        for count, expected in ((0, 1.75), (1, 1.6), (2, 28 / 19), (4, 14 / 11), (8, 1)):
            self.near(limits.limit("servers", setup(hosts=8, servers=count), 16 * MiB), expected)

    def test_hosts_reduce_inside_first(self):
        self.near(limits.limit("servers", setup(hosts=8, servers=2, tree=True), 16 * MiB), 5)
        self.near(limits.limit("servers", setup(hosts=7, servers=2, tree=True), 16 * MiB), 5)
        self.near(limits.limit("servers", setup(hosts=8, servers=8, tree=True), 16 * MiB), 8)
        self.near(limits.limit("servers", setup(per_host=2), 16 * MiB), 1)
        self.near(limits.limit("servers", setup(per_host=2, servers=2), 16 * MiB), 1.2)
        self.near(limits.limit("peers", setup(per_host=2), 16 * MiB), 1.5)

    def algorithms(self, where, **times):
        for name, factor in times.items():
            self.assertAlmostEqual(limits.algorithm(name.replace("_", "-"), where, MiB),
                                   factor * MiB * 8 / 200e6, places=9)

    def test_algorithms(self):
        self.algorithms(setup(per_host=4), ring=1.875, rabenseifner=1.5, han=1.5, linear=24, recursive_doubling=8,
                        reduce_bcast=4)

    def test_algorithms_to_owners(self):
        self.algorithms(setup(per_host=4, collective="reduce"), linear=12, chain=3, binary=2, binomial_whole=2,
                        rabenseifner=1.5, nonblocking=1.5, han=1.5)
        self.algorithms(setup(hosts=3, collective="reduce"), linear=2, chain=2, binary=2, binomial_whole=2,
                        rabenseifner=2)
        self.algorithms(setup(hosts=8, collective="reduce"), binary=4, binomial_whole=3, rabenseifner=1.75)
        blocks = {"collective": "reduce_scatter_block"}
        self.algorithms(setup(**blocks), linear=3.75, doubling=1.25, halving=0.75, butterfly=0.75)
        self.algorithms(setup(per_host=4, **blocks), linear=2.75, doubling=5, halving=3, butterfly=0.75)
        self.algorithms(setup(hosts=3, **blocks), linear=2 + 2 / 3, halving=1 + 2 / 3, butterfly=1 + 2 / 3)

    def test_all_hosts(self):
        self.near(limits.limit("all", setup(), 16 * MiB), 1.75)

    def test_other_collectives(self):
        self.near(limits.limit("peers", setup(collective="allgather"), 16 * MiB), 0.75)
        self.near(limits.limit("peers", setup(collective="reduce_scatter_block"), 16 * MiB), 0.75)
        self.near(limits.limit("peers", setup(collective="bcast"), 16 * MiB), 1)

    def test_two_at_once(self):
        for hosts, servers, times in ((8, 8, 1), (4, 4, 1), (8, 0, 1.75), (4, 0, 1.5), (8, 4, 0.875 + 0.7 / 8 + 0.3 * 0.875)):
            self.near(limits.limit("servers", setup(collective="pair", hosts=hosts, servers=servers), 16 * MiB), times)
        self.near(limits.limit("peers", setup(collective="pair", hosts=8), 16 * MiB), 1.75)
        for collective, servers, peers in (("allreduce+allgather", 1.75, 2.25), ("allreduce+allreduce", 2, 3),
                                           ("bcast+reduce", 2, 1.5)):
            self.near(limits.limit("servers", setup(collective=collective), 16 * MiB), servers)
            self.near(limits.limit("peers", setup(collective=collective), 16 * MiB), peers)
        chosen = dataclasses.asdict(experiments.find("pair").setups[-1])
        self.assertEqual((chosen["name"], chosen["rate"], chosen["snooping"]), ("8+8-allreduce+allgather", 100, True))
        self.near(limits.limit("servers", chosen, 16 * MiB), 1 + 7 / 8, rate=100)
        self.near(limits.limit("peers", chosen, 16 * MiB), 3 * 7 / 8, rate=100)
        self.assertEqual(limits.bus_factor("pair", 4), 1.5)
        self.assertEqual(limits.bus_factor("allreduce+allgather", 4), 2.25)

    def test_stream(self):
        self.near(limits.limit("peers", setup(collective="allgather", hosts=8, stream=20), 16 * MiB), 20 * 0.875)
        self.near(limits.limit("servers", setup(stream=1), 16 * MiB), 1)
        self.assertIsNone(limits.limit("peers", setup(rate=0, stream=20), MiB))

    def test_unequal_blocks(self):
        for hosts, first, times in ((8, 50, 13 / 14), (4, 50, 5 / 6), (8, 0, 1), (8, 100, 1), (2, 50, 0.5), (4, 25, 0.75)):
            self.near(limits.limit("servers", setup(hosts=hosts, servers=2, first=first, collective="reduce_scatter"),
                                   16 * MiB), times)

    def test_no_links(self):
        self.assertIsNone(limits.limit("peers", setup(rate=0), MiB))

    def test_headers(self):
        self.assertAlmostEqual(1 - 1 / limits.HEADERS, 0.0436, places=4)


class Statistics(unittest.TestCase):
    def test_median_of_medians(self):
        launches = [{"seconds": seconds, "offloaded": 3, "operations": 3, "wire": None}
                    for seconds in ([1, 2, 9], [3, 3, 3], [4, 5, 0])]
        made = results.make_row(setup(), {"scheme": "servers"}, MiB, launches)
        self.assertEqual((made.median, made.least, made.most), (3, 2, 4))
        self.assertEqual((made.offloaded, made.operations), (9, 9))

    def test_component_not_loaded(self):
        launches = [{"seconds": [1], "offloaded": None, "operations": 1, "wire": None}]
        self.assertIsNone(results.make_row(setup(), {"scheme": "peers"}, 1, launches).offloaded)

    def test_best_peer(self):
        rows = [row("ring", "peer", 2), row("default", "peer", 1.5), row("optcast", "ours", 1),
                row("ring-all", "other", 0.5), row("fast", "peer", 0.1, size=2 * MiB)]
        self.assertEqual(results.best_peer(rows, MiB).contestant["name"], "default")
        self.assertIsNone(results.best_peer(rows, 3))

    def test_reference(self):
        rows = [row("ring", "peer", 2), row("optcast", "ours", 1), row("lossy", "ours", 1.5)]
        self.assertEqual(results.reference({}, rows, MiB).contestant["name"], "ring")
        chosen = {"baseline": "optcast"}
        self.assertEqual(results.reference(chosen, rows, MiB).contestant["name"], "optcast")
        self.assertIsNone(results.reference(chosen, rows, 3))

    def test_previous(self):
        launches = [{"seconds": [2, 4, 3], "previous": [3, 6, 9]},
                    {"seconds": [2, 2, 2], "previous": [1, 1, 1]},
                    {"seconds": [4, 4, 4], "previous": [4, 4, 4]}]
        self.assertEqual(results.previous_of(launches), (4, 1, 0.5, 2))
        self.assertIsNone(results.previous_of([{"seconds": [1]}]))

    def test_differences(self):
        self.assertTrue(results.differs(row("a", "ours", 1), row("b", "peer", 1.2)))
        self.assertFalse(results.differs(row("a", "ours", 1), row("b", "peer", 1.05)))
        self.assertFalse(results.differs(row("a", "ours", 1, 0.2), row("b", "peer", 1.3, 0.2)))

    def test_iterations(self):
        effort = measure.Effort()
        self.assertEqual(effort.iterations(1e-6), (100, 10))
        self.assertEqual(effort.iterations(0.05), (20, 2))
        self.assertEqual(effort.iterations(0.7), (3, 2))
        self.assertEqual(effort.iterations(3), (2, 2))

    def test_wire(self):
        before = {f"h{k}": (0, 0) for k in range(1, 4)}
        after = {"h1": (100, 10), "h2": (300, 30), "h3": (50, 60)}
        small = experiments.Setup("x", "allreduce", 2, (), (), servers=1)
        runner = measure.Runner(small, None, measure.Effort(), None)
        self.assertEqual(runner.wire((before, after), ("optcast", MiB), 2),
                         {"sent": 100, "received": 10, "server_sent": 25, "server_received": 30})
        alone = measure.Runner(dataclasses.replace(small, operations_only=True), None, measure.Effort(), None)
        self.assertIsNone(alone.wire((before, after), ("optcast", MiB), 3))
        alone.first["optcast", MiB] = {"h1": (40, 2), "h2": (120, 8), "h3": (10, 20)}
        self.assertEqual(alone.wire((before, after), ("optcast", MiB), 3),
                         {"sent": 60, "received": 7.5, "server_sent": 20, "server_received": 20})

    def test_stream(self):
        chosen = experiments.find("prefetch").setups[0]
        self.assertEqual(chosen.title(), "allgather, 20 in a stream: 8 hosts, links of 200 Mbit/s, 1 rank on each host")
        runner = measure.Runner(chosen, mock.Mock(), measure.Effort(), None)
        words = " ".join(runner.arguments(contestants.find("allgather", "optcast"), (MiB,), 2, 1))
        self.assertIn("allgather -b 1048576 -e 1048576 -f 2 -n 2 -w 1 --interface none --stream 20", words)
        plain = measure.Runner(dataclasses.replace(chosen, stream=1), mock.Mock(), measure.Effort(), None)
        self.assertNotIn("--stream", plain.arguments(contestants.find("allgather", "optcast"), (MiB,), 2, 1))
        self.assertEqual(runner.result()["stream"], 20)
        before = {f"h{k}": (0, 0) for k in range(1, 9)}
        after = {f"h{k}": (60, 600) for k in range(1, 9)}
        self.assertEqual(runner.wire((before, after), ("optcast", MiB), 3),
                         {"sent": 1, "received": 10, "server_sent": None, "server_received": None})
        ran = {"seconds": [1, 2], "offloaded": 40, "fallbacks": 0}
        for numbers, operations in (({"stream": 20}, 40), ({}, 2), ({"collective": "bcast+reduce"}, 4)):
            kept = measure.keep_row(ran, {"iterations": 2, **numbers}, None)
            self.assertEqual(kept["operations"], operations)

    def test_stream_of_a_result(self):
        launches = [{"seconds": [2], "offloaded": 20, "operations": 20, "wire": None}]
        for described, volume, bandwidth in ((setup(servers=0, stream=20), 20 * MiB, 10 * 8 * MiB / 1e6),
                                             (setup(servers=0), MiB, 8 * MiB / 2e6)):
            made = results.make_row(described, {"scheme": "peers"}, MiB, launches)
            self.assertEqual(made.volume, volume)
            self.assertAlmostEqual(report.bandwidth(described, made)[0], bandwidth)
            self.assertEqual(plot.point("bandwidth", made).split()[1], f"{bandwidth:.9g}")

    def test_counters(self):
        said = "host tx_bytes rx_bytes tx_packets rx_packets dropped\nh1 12 34 5 6 0\n"
        self.assertEqual(cluster.parse_counters(said), {"h1": (12, 34)})


class Words(unittest.TestCase):
    def test_numbers(self):
        self.assertEqual(text.seconds(0.7239), "724 ms")
        self.assertEqual(text.seconds(1.0866), "1.09 s")
        self.assertEqual(text.seconds(52.3e-6), "52.3 µs")
        self.assertEqual(text.spread(0.99, 1.01), "0.99–1.01 s")
        self.assertEqual(text.size(65536), "64 KiB")
        self.assertEqual(text.size(1000), "1000 B")

    def test_not_offloaded(self):
        ours = row("optcast", "ours", 1, offloaded=0)
        self.assertIn("not offloaded", ours.label)
        self.assertEqual(report.offloaded(ours), "**none** of 15")
        self.assertIn("not offloaded", report.verdict(ours, row("ring", "peer", 2)))
        partly = row("optcast", "ours", 1, offloaded=5)
        self.assertEqual(report.offloaded(partly), "**5** of 15")
        self.assertEqual(report.offloaded(row("optcast", "ours", 1, offloaded=15)), "all 15")

    def test_verdict(self):
        ours = row("optcast", "ours", 1, offloaded=15)
        self.assertIn("**1.50** times as fast", report.verdict(ours, row("ring", "peer", 1.5)))
        self.assertIn("slower: **2.00** times", report.verdict(ours, row("ring", "peer", 0.5)))
        self.assertEqual(report.verdict(ours, row("ring", "peer", 1.09)), "no difference")

    def test_no_claim(self):
        ring = row("ring", "peer", 2)
        self.assertIn("no claim", report.verdict(row("optcast", "ours", 1, offloaded=5), ring))
        few = dataclasses.replace(row("optcast", "ours", 1, offloaded=15), launches=4)
        self.assertIn("too few launches", report.verdict(few, ring))

    def test_no_folders_of_this_machine(self):
        said = paths.anonymous([paths.BUILD / "optcast-perf", paths.REPO / "x", paths.REPO])
        self.assertEqual(said, "build/optcast-perf x .")


class Tables(unittest.TestCase):
    def test_experiments(self):
        for experiment in experiments.EXPERIMENTS:
            names = [s.name for s in experiment.setups]
            self.assertEqual(len(names), len(set(names)), experiment.name)
            for chosen in (*experiment.setups, *experiments.shorten(experiment.setups)):
                self.check_setup(chosen)

    def test_plots(self):
        for chosen in (s for e in experiments.EXPERIMENTS for s in e.setups):
            described = [{**vars(contestants.find(chosen.collective, name)), "scheme": "peers"}
                         for name in chosen.contestants]
            rows = [{"contestant": name, "bytes": size, "launches": [
                {"seconds": [1.0], "offloaded": 1, "operations": 1, "wire": None}]}
                    for name in chosen.contestants for size in chosen.sizes]
            recorded = {**dataclasses.asdict(chosen), "contestants": described, "rows": rows}
            for what in plot.kinds(recorded):
                self.assertIn("set output 'x.svg'", plot.script(what, recorded, "x.svg"))

    def test_settings_once(self):
        words = contestants.of_component("d", settings=("mode=auto", "window=2", "window=4"))
        self.assertEqual(" ".join(words).count("coll_optcast_mode"), 1)
        self.assertIn("coll_optcast_window 4", " ".join(words))

    def check_setup(self, chosen):
        factors = {b / a for a, b in zip(chosen.sizes, chosen.sizes[1:])}
        self.assertLessEqual(len(factors), 1, f"{chosen.name}: sizes grow by different factors")
        for name in chosen.contestants:
            contestant = contestants.find(chosen.collective, name)
            if chosen.latency:
                self.assertEqual(contestant.mpi, "openmpi")
            if contestant.kind == "ours":
                self.assertTrue(chosen.servers or contestant.embedded)

    def test_rates(self):
        chosen = experiments.with_rates(experiments.find("courtesy").setups, [100, 500])
        self.assertEqual([s.rate for s in chosen], [100, 500])
        self.assertEqual([s.name for s in chosen], ["4+4-100", "4+4-500"])

    def test_naps(self):
        chosen = experiments.find("courtesy").setups[0]
        asleep = [name for name in chosen.contestants
                  if contestants.naps(contestants.find("allreduce", name), chosen)]
        self.assertEqual(asleep, ["ring-nap", "optcast-nap"])
        large = experiments.find("allreduce-hosts").setups[0]
        self.assertFalse(contestants.naps(contestants.OURS, large))
        self.assertTrue(contestants.naps(contestants.RING, large))

    def test_multicast_needs_no_servers(self):
        for chosen in experiments.find("allgather-hosts").setups:
            ours = contestants.find("allgather", "optcast")
            described = dataclasses.asdict(chosen)
            self.assertAlmostEqual(limits.limit(ours.scheme, described, MiB),
                                   (chosen.hosts - 1) / chosen.hosts * MiB * 8 / 200e6)
            self.assertIn("multicast=udp", ours.settings)

    def test_plain_udp(self):
        emulated = cluster.Cluster()
        chosen = experiments.find("bcast-hosts").setups[0]
        for name, expected in (("optcast", False), ("optcast-plain", True)):
            words = emulated.command(contestants.find("bcast", name), chosen)
            self.assertEqual("--plain-udp" in words, expected)

    def test_losses(self):
        emulated = cluster.Cluster()
        chosen = experiments.find("losses").setups[0]
        with mock.patch.object(emulated, "call") as call:
            for name, calls in (("optcast", 0), ("optcast-loss-5", 8), ("optcast-loss-5", 8),
                                ("optcast", 16)):
                emulated.arrange(contestants.find("allgather", name), chosen)
                self.assertEqual(call.call_count, calls)
        self.assertEqual(call.call_args_list[3].args, ("loss", 4, 5, "udp"))
        self.assertEqual(call.call_args_list[15].args, ("loss", 8, 0, "udp"))

    def test_streams(self):
        emulated = cluster.Cluster()
        chosen = experiments.find("simulate").setups[-1]
        plain, beside = (contestants.find("allgather", name) for name in ("optcast", "optcast-streams"))
        running = mock.Mock(poll=lambda: None, wait=lambda: 0)
        names = "".join(f"h{k} 10.77.0.{k}\n" for k in range(1, 5))
        with mock.patch.object(emulated, "call", return_value=names), \
                mock.patch.object(emulated, "begin", return_value=running) as begin, \
                mock.patch.object(cluster, "stop") as stop:
            for contestant, begun, stopped in ((plain, 0, 0), (beside, 8, 0), (beside, 8, 0),
                                               (plain, 8, 4), (beside, 16, 4)):
                emulated.arrange(contestant, chosen)
                self.assertEqual((begin.call_count, stop.call_count), (begun, stopped))
            # in a circle
            self.assertEqual([c.args[0::3][:2] for c in begin.call_args_list[4:8]],
                             [(1, "10.77.0.2"), (2, "10.77.0.3"), (3, "10.77.0.4"), (4, "10.77.0.1")])
            running.poll = lambda: 1
            with self.assertRaises(cluster.PlaceError):
                emulated.arrange(beside, chosen)

    def test_tree(self):
        emulated = cluster.Cluster()
        chosen = experiments.find("tree").setups[0]
        with mock.patch.object(emulated, "call") as call:
            call.side_effect = lambda command, host, *words: f"h{host}:1\n"
            emulated.start_servers(chosen)
        self.assertEqual([c.args for c in call.call_args_list],
                         [("server", 11), ("server", 9, "--parent", "h11:1"),
                          ("server", 10, "--parent", "h11:1")])
        self.assertEqual(emulated.addresses, "h9:1,h10:1")
        self.assertIn("8 hosts + 2 with leaves + their parent", chosen.title())

    def test_hostfile(self):
        self.assertEqual(places.parse_hostfile("n1 slots=2 # old\n# none\n\nn2\n"),
                         [("n1", 2), ("n2", None)])
        with self.assertRaises(cluster.PlaceError):
            places.parse_hostfile("# nothing\n")


class RealCluster(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        hostfile = pathlib.Path(folder.name) / "hosts"
        hostfile.write_text("n1 slots=1\nn2 slots=1\nn3 slots=1\n", encoding="utf-8")
        with mock.patch.object(places, "find_mpirun", lambda: "mpirun"):
            self.place = places.Real(hostfile, "s1,s2", 100000)

    def test_command(self):
        chosen = self.place.adapt(experiments.find("allreduce-nodes").setups[0])
        self.assertEqual((chosen.hosts, chosen.servers, chosen.per_host), (3, 2, 1))
        words = " ".join(self.place.command(contestants.OURS, chosen))
        self.assertIn("-np 3 --map-by ppr:1:node", words)
        self.assertIn("coll_optcast_servers s1,s2", words)
        self.assertNotIn("optcast", " ".join(self.place.command(contestants.RING, chosen)))

    def test_only_the_network_that_is_there(self):
        chosen = self.place.adapt(experiments.find("losses").setups[0])
        self.assertEqual(chosen.contestants, ("optcast",))
        words = " ".join(self.place.command(contestants.find("allgather", "optcast"), chosen))
        self.assertIn("coll_optcast_multicast udp", words)
        self.assertIn("coll_optcast_servers embedded", words)

    def test_only_hosts_with_ranks(self):
        chosen = self.place.adapt(experiments.find("allreduce-all").setups[0])
        self.assertEqual(chosen.contestants, ("ring", "segmented-ring", "optcast"))


class Page(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.recorded = json.loads(RECORDED.read_text(encoding="utf-8"))

    def write(self, **files):
        for name, result in files.items():
            results.save(self.folder / f"{name}.json", result)
        page = self.folder / "page.md"
        complaint = report.write(self.folder, page, paths.PREFACE)
        self.assertTrue(not complaint or "gnuplot is not installed" in complaint, complaint)
        self.front = page.read_text(encoding="utf-8")
        return "".join((self.folder / "page" / f"{name}.md").read_text(encoding="utf-8")
                       for name in files)

    def test_front(self):
        setup = self.recorded["setups"][0]
        setup["contestants"].append({**setup["contestants"][0], "name": "default", "kind": "peer",
                                     "label": "default"})
        setup["rows"] = [{"contestant": name, "bytes": size, "launches": [
            {"seconds": [seconds], "offloaded": offloaded, "operations": 3, "wire": None}]}
            for size, times in ((1024, (9, 9, 9)), (1 << 20, (1.5, 0.5, 0.25)))
            for name, seconds, offloaded in zip(("default", "ring", "optcast"), times, (0, 0, 3))]
        setup["check_passed"] = True
        self.recorded["launches"] = 5
        self.write(smoke=self.recorded)
        self.assertIn("[Allreduce](page/smoke.md)", self.front)
        self.assertIn("| 1 MiB | 250 ms |", self.front)
        self.assertIn("| 1.50 s (6.00 ×) | 500 ms (2.00 ×, ", self.front)
        self.assertNotIn("| 1 KiB |", self.front)
        self.assertIn("(page/smoke.md) | `smoke` | ", self.front)
        self.assertIn("Not measured yet: `bench/run allreduce-hosts`", self.front)
        self.assertNotIn("<!--", self.front)

    def test_front_only_of_sound_results(self):
        setup = self.recorded["setups"][0]
        setup["rows"] = [{"contestant": "optcast", "bytes": 1 << 20, "launches": [
            {"seconds": [1], "offloaded": 3, "operations": 3, "wire": None}]}]
        sound = {**self.recorded, "launches": 5, "setups": [{**setup, "check_passed": True}]}
        self.write(smoke=sound)
        self.assertIn("[Allreduce]", self.front)
        for change in ({"launches": 4}, {"quick": True},
                       {"setups": [{**setup, "check_passed": False}]}):
            self.write(smoke={**sound, **change})
            self.assertNotIn("[Allreduce]", self.front)

    def test_front_without_offload(self):
        self.recorded["launches"] = 5
        self.recorded["setups"][0]["check_passed"] = True
        for row in self.recorded["setups"][0]["rows"]:
            for launch in row["launches"]:
                launch["offloaded"] = 0
        self.write(smoke=self.recorded)
        self.assertNotIn("[Allreduce]", self.front)

    def sound(self, experiment, launch, **changes):
        """A result with enough launches of one setup, in which all was offloaded."""
        setup = {**self.recorded["setups"][0], "check_passed": True, **changes, "rows": [
            {"contestant": "optcast", "bytes": 1 << 20, "launches": 5 * [
                {"offloaded": 3, "operations": 3, "wire": None, **launch}]}]}
        return {**self.recorded, "experiment": experiment, "launches": 5, "setups": [setup]}

    def test_front_of_two_at_once(self):
        for name, times in (("8+8", 1), ("8+8-flooded", 0)):
            self.write(pair=self.sound("pair", {"seconds": [2]}, name=name, collective="pair"))
            self.assertEqual(self.front.count("| [Allgather and Reduce_scatter_block at once](page/pair.md) | "), times)
        self.write(pair=self.sound("pair", {"seconds": [2]}, name="8+8-allreduce+allgather", collective="allreduce+allgather"))
        self.assertIn("| [Allreduce and Allgather at once](page/pair.md) | ", self.front)

    def test_front_of_overlap(self):
        launch = {"seconds": [1.05], "own": 0.5, "hidden": 0.9, "processor": 0.2}
        self.write(overlap=self.sound("overlap", launch, overlap=1000))
        self.assertIn("| 1 MiB | 500 ms | 90.0 % | — | — |", self.front)
        self.write(overlap=self.sound("overlap", {**launch, "offloaded": 2}, overlap=1000))
        self.assertNotIn("Nonblocking, with a program", self.front)

    def test_front_of_training(self):
        def launches(seconds, losses):
            return 5 * [{"losses": losses, "seconds": seconds, "computing": 1.0, "exposed": seconds - 1, "waiting_least": 0.1,
                         "waiting": 0.4}]
        rows = [{"name": name, "label": name, "kind": "ours", "launches": launches(seconds, losses)}
                for name, seconds, losses in (("default", 3.0, [2]), ("optcast", 1.25, [1]))]
        measured = {"words": "", "hosts": 8, "losses": [1], "setups": [{"servers": 4, "rate": 200, "rows": rows}]}
        self.write(training={**self.sound("training", {"seconds": [1]}), "setups": [], "training": measured})
        self.assertIn("| [`fsdp.py`](page/training.md) | 8 | 4 | 200 | 1.25 s | 250 ms | 3.00 s (2.40 ×) | 2.00 s |", self.front)
        rows[1]["launches"][0]["losses"] = [2]      # one and the same in all five
        self.write(training={**self.sound("training", {"seconds": [1]}), "setups": [], "training": measured})
        self.assertNotIn("fsdp.py", self.front)

    def test_overlap(self):
        setup = self.recorded["setups"][0]
        setup["overlap"] = 1000
        setup["rows"] = [{"contestant": "optcast", "bytes": 1 << 20, "launches": [
            {"seconds": [seconds], "own": 0.5, "hidden": hidden, "offloaded": 3, "operations": 3, "wire": None,
             "processor": 0.2} for seconds, hidden in ((1.05, 0.9), (1.0, 1.0), (1.25, 0.5))]}]
        page = self.write(smoke=self.recorded)
        self.assertIn("| 1 MiB | optcast | 1.05 s | 1.00–1.25 s | 3 | 500 ms | 90.0 % (50.0–100.0) | 100 ms | all 9 |",
                      page)

    def computing(self, seconds):
        """A result with an operation beside a program that computes for SECONDS in each launch, and by itself."""
        alone = self.recorded["setups"][0]
        alone |= {"processor": True, "rows": [{"contestant": "optcast", "bytes": 1 << 20, "launches": [
            {"seconds": [0.3], "offloaded": 1, "operations": 1, "wire": None, "processor": 0.02}]}]}
        beside = {**alone, "title": "beside", "processor": False, "overlap": 1000, "compute": True, "rows": [
            {"contestant": "optcast", "bytes": 1 << 20, "launches": [
                {"seconds": [1.5], "own": 0.5, "hidden": 0.5, "offloaded": 1, "operations": 1, "wire": None,
                 "processor": 0.2, "alone": time, "slowdown": slowdown, "threads": 0.01 * alone["hosts"] * time}
                for time, slowdown in zip(seconds, (0.05, 0.02, 0.03))]}]}
        return {**self.recorded, "setups": [alone, beside]}

    def test_computing(self):
        page = self.write(smoke=self.computing((1.0, 1.0, 1.1)))
        # 10 ms on each host for a MiB, whichever way
        self.assertIn("| 1 MiB | optcast | 1.00 s | 3.0 % (2.0–5.0) | 1.0 % | 2.0 % (1.0–4.0) | 3 | 1.50 s | 500 ms | "
                      "50.0 % (50.0–50.0) | 10.24 | 10.24 | 1.00 | all 3 |", page)
        self.assertNotIn("The computation alone takes", page)

    def test_computing_that_varies(self):
        page = self.write(smoke=self.computing((1.0, 1.3, 1.1)))
        self.assertIn("The computation alone takes 1.00–1.30 s, depending on the launch: ", page)

    def test_computing_without_the_operation_alone(self):
        result = self.computing((1.0, 1.0, 1.0))
        del result["setups"][0]
        self.assertIn(" | 10.24 | — | — | all 3 |", self.write(smoke=result))

    def test_stream(self):
        self.assertNotIn("before it waits for the first one", self.write(smoke=self.recorded))
        self.recorded["setups"][0]["stream"] = 20
        self.assertIn("An iteration starts 20 operations, one after another, before it waits for the first one: times, "
                      "limits and bandwidths are of all 20 together, bytes of one operation, ",
                      self.write(smoke=self.recorded))

    def test_no_old_pages(self):
        self.write(smoke=self.recorded)
        (self.folder / "smoke.json").unlink()
        self.write(other=self.recorded)
        self.assertFalse((self.folder / "page/smoke.md").exists())

    def test_page(self):
        page = self.write(smoke=self.recorded)
        self.assertIn("Made by `bench/run smoke`", page)
        self.assertIn("optcast (**not offloaded**)", page)
        self.assertIn("**none** of 6", page)
        self.assertIn("all 6", page)
        self.assertIn("coll/ucc was not measured: this Open MPI has no coll/ucc", page)
        self.assertIn("1 launches failed, the first one: did not end within 60 s", page)
        self.assertIn("(MPICH)", page)
        self.assertIn("The links did not carry what they should", page)
        self.assertIn("ring over all 3 hosts", page)
        self.assertIn("headers make them 4.6 % longer", page)

    def test_peers_only(self):
        setup = self.recorded["setups"][0]
        setup["contestants"] = [c for c in setup["contestants"] if c["kind"] == "peer"]
        setup["rows"] = [r for r in setup["rows"] if r["contestant"] != "optcast"]
        page = self.write(smoke=self.recorded)
        self.assertIn("| 64 KiB | MPICH | 2.10 ms | 2.62 ms |", page)
        self.assertNotIn("offloaded |", page)

    def test_baseline(self):
        setup = self.recorded["setups"][0]
        setup["baseline"] = "ring"
        self.assertIn("| compared with |", self.write(smoke=self.recorded))

    def test_without_servers(self):
        self.recorded["setups"][0]["servers"] = 0
        for contestant in self.recorded["setups"][0]["contestants"]:
            contestant["scheme"] = "peers"
        page = self.write(smoke=self.recorded)
        self.assertIn("| ours is | limit |", page)
        self.assertNotIn("limit with servers |", page)

    def test_comparison(self):
        setup = self.recorded["setups"][0]
        setup["latency"] = True
        setup["rows"] = [{"contestant": "optcast", "bytes": 64, "launches": [
            {"seconds": [1e-4], "previous": [9e-5], "offloaded": 0, "operations": 1, "wire": None},
            {"seconds": [2e-4], "previous": [3e-4], "offloaded": 0, "operations": 1,
             "wire": None}]}]
        self.assertIn("| 64 B | 150 µs | 195 µs | 1.20 | 0.90–1.50 | 2 | **none** of 2 |",
                      self.write(smoke=self.recorded))

    def test_crossing(self):
        setup = self.recorded["setups"][0]
        setup["latency"] = True
        names = [c["name"] for c in setup["contestants"] if c["kind"] == "ours"]
        peer = next(c for c in setup["contestants"] if c["kind"] == "peer")
        setup["contestants"].append({**peer, "name": "other", "label": "the other"})
        setup["rows"] = [
            {"contestant": name, "bytes": 8 << i, "launches": [
                {"seconds": [1], "previous": [ratio * noise], "offloaded": 1, "operations": 1,
                 "wire": None} for noise in (1, 1.05)]}
            for name, ratios in ((names[0], (0.5, 1.2, 0.92, 1.1, 2)), ("other", (0.97,) * 5))
            for i, ratio in enumerate(ratios)]
        page = self.write(smoke=self.recorded)
        self.assertIn("| 8 B | the other | 1.00 s | 994 ms | 0.99 | 0.97–1.02 | 2 |", page)
        self.assertIn(": faster from 64 B on; slower at 8 B.", page)
        self.assertIn("* the other: faster from no size on; slower at no size.", page)

    def test_quick_only_without_a_full_one(self):
        quick = {**self.recorded, "quick": True, "command": "bench/run smoke --quick"}
        self.assertIn("This was a quick run", self.write(**{"smoke-quick": quick}))
        self.assertNotIn("This was a quick run", self.write(smoke=self.recorded))

    def test_few_launches(self):
        self.assertIn("Only 2 launches", self.write(smoke=self.recorded))
        self.assertNotIn("Only", self.write(smoke={**self.recorded, "launches": 5}))

    def test_saved_as_it_was(self):
        results.save(self.folder / "a.json", self.recorded)
        again = json.loads((self.folder / "a.json").read_text(encoding="utf-8"))
        self.assertEqual(again, self.recorded)


class OursAlone(unittest.TestCase):
    def test_columns_of_peers_are_left_out(self):
        described = setup(latency=False, servers=0, collective="allgather")
        ours, ring = row("optcast", "ours", 1.0), row("ring", "peer", 2.0)
        self.assertEqual(report.headlines(described, [ours])[0], "| size | ours | time | limit |")
        self.assertIn("best peer", report.headlines(described, [ours, ring])[0])


class Reduced(unittest.TestCase):
    """Result files that a repository can keep."""

    def result(self, times):
        launch = {"seconds": times, "previous": [2 * time for time in times],
                  "operations": len(times)}
        return {"setups": [{"rows": [{"bytes": 8, "launches": [launch]}]}], "launches": 1}

    def launch(self, times):
        return results.reduced(self.result(times))["setups"][0]["rows"][0]["launches"][0]

    def test_five_numbers(self):
        self.assertEqual(results.five_numbers([5, 1, 2, 4, 3, 9, 7]), [1, 2.5, 4, 6, 9])
        self.assertEqual(results.five_numbers([3, 1]), [3, 1])

    def test_same_medians(self):
        times = [random.Random(7).random() for _ in range(1000)]
        launch = self.launch(times)
        self.assertEqual(len(launch["seconds"]), 5)
        self.assertEqual(launch["operations"], 1000)
        for key, factor in (("seconds", 1), ("previous", 2)):
            self.assertAlmostEqual(statistics.median(launch[key]),
                                   factor * statistics.median(times), places=5)

    def test_twice(self):
        once = results.reduced(self.result([0.1, 0.2, 0.4, 0.3, 0.5, 0.6]))
        self.assertEqual(results.reduced(once), once)

    def test_text(self):
        value = {"long": ["x" * 50] * 9, "flat": {"a": [1, 2.5, None]}, "none": []}
        written = results.to_text(value)
        self.assertEqual(json.loads(written), value)
        self.assertIn('\n "flat": {"a": [1, 2.5, null]},\n', written)
        self.assertLessEqual(max(map(len, written.splitlines())), results.LINE)


class Launches(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def launch(self, script, limit=20):
        # the words after it are --json FILE
        return launch.launch(["/bin/sh", "-c", script, "program"], self.folder, None, limit)

    def test_good(self):
        outcome = self.launch('echo \'{"rows": []}\' >"$2"')
        self.assertEqual((outcome.numbers, outcome.error, outcome.ended), ({"rows": []}, "", True))

    def test_hangs_after_its_results(self):
        with mock.patch.object(launch, "PATIENCE_TO_END", 0.3):
            outcome = self.launch('echo \'{"rows": []}\' >"$2"; sleep 60')
        self.assertEqual((outcome.numbers, outcome.error, outcome.ended), ({"rows": []}, "", False))

    def test_hangs_before(self):
        outcome = self.launch("echo begun; sleep 60", 0.5)
        self.assertEqual((outcome.numbers, outcome.ended), (None, False))
        self.assertEqual(outcome.error, "did not end within 0.5 s: begun")

    def test_fails(self):
        outcome = self.launch("echo optcast-perf: no; echo more; exit 3")
        self.assertEqual(outcome.error, "exit status 3: optcast-perf: no")
        self.assertIsNone(outcome.numbers)


class Verification(unittest.TestCase):
    def runner(self, numbers, error=""):
        chosen = dataclasses.replace(experiments.find("smoke").setups[0], rate=0)
        place = mock.Mock(exact_counters=False, environment=None)
        place.counters.return_value = None
        place.command.return_value = ["mpirun"]
        runner = measure.Runner(chosen, place, measure.Effort(), mock.Mock())
        outcome = launch.Outcome(numbers, error, 1.0, "output", True)
        patch = mock.patch.object(measure, "launch", lambda *_: outcome)
        patch.start()
        self.addCleanup(patch.stop)
        return runner

    def test_arguments_of_overlap(self):
        runner = self.runner(None)
        runner.setup = dataclasses.replace(runner.setup, overlap=250)
        words = runner.arguments(contestants.RING, (1024,), 3, 1)
        self.assertEqual(words[words.index("--overlap") + 1], "250")

    def test_what_is_kept_of_overlap(self):
        row = {"seconds": [1], "offloaded": 1, "fallbacks": 0, "own_median_s": 0.5, "hidden": 0.25, "previous": None}
        pair = measure.keep_row(row, {"iterations": 3, "collective": "bcast+reduce"}, None)
        self.assertEqual(pair["operations"], 6)
        kept = measure.keep_row(row, {"iterations": 1}, None)
        self.assertEqual((kept["own"], kept["hidden"]), (0.5, 0.25))

    def test_wrong_results_end_the_run(self):
        rows = [{"bytes": 16384, "wrong": 3, "min_s": 1}]
        runner = self.runner({"rows": rows, "mpi": "MPI"}, "exit status 1")
        with self.assertRaisesRegex(measure.MeasureError, "wrong results at .16384. bytes"):
            runner.verify_one(contestants.RING)

    def test_peers_that_fail_are_left_out(self):
        self.assertEqual(self.runner(None, "no").verify_one(contestants.RING), "no")

    def test_ours_has_to_run(self):
        with self.assertRaisesRegex(measure.MeasureError, "optcast cannot be launched: no"):
            self.runner(None, "no").verify_one(contestants.OURS)

    def test_sizes_that_were_rounded(self):
        rows = [{"bytes": size - 1, "wrong": 0, "min_s": 2} for size in (16384, 65536)]
        runner = self.runner({"rows": rows, "mpi": "MPI"})
        self.assertEqual(runner.verify_one(contestants.RING), "")
        self.assertEqual([sizes for sizes, _, _ in runner.calls(contestants.RING)],
                         [(16384,), (65536,)])

    def test_what_is_not_really_used_is_left_out(self):
        rows = [{"bytes": 16384, "wrong": 0, "min_s": 1}]
        runner = self.runner({"rows": rows, "mpi": "MPI"})
        self.assertEqual(runner.verify_one(contestants.HAN), "Open MPI did not use it")
        self.assertEqual(runner.verify_one(contestants.RING), "")


class Reduction(unittest.TestCase):
    measured = {"isa": "avx2", "vector_bytes": 32, "rounds": 3, "rows": [
        {"place": place, "inputs": inputs, "chunk_bytes": 65536, "working_set": size,
         "limits": [{"name": "one pass", "gbytes_s": [20.0, 10.0, 30.0]},
                    {"name": "groups", "gbytes_s": [10.0, 20.0, 15.0]}],
         "types": [{"name": "float", "gbytes_s": [10.0, 19.0, 27.0]}]}
        for place, size in (("memory", 2 << 30), ("L2", 256 << 10)) for inputs in (2, 8)]}

    def test_limits(self):
        row = self.measured["rows"][0]
        self.assertEqual(reduction.limits_of(row), [20.0, 20.0, 30.0])
        self.assertEqual(reduction.usual_loop(row), "one pass")

    def test_section(self):
        lines = reduction.section(self.measured)
        self.assertIn("## Reduction in memory, 2048 MiB", lines)
        self.assertIn("## Reduction in half of the L2 cache, 256 KiB", lines)
        self.assertIn("| type | 2 inputs | 8 inputs |", lines)
        self.assertIn("| **limit** | 20.0 | 20.0 |", lines)
        # ratios are those of one round each
        cell = "19.0: 0.90 (0.50–0.95)"
        self.assertIn(f"| float | {cell} | {cell} |", lines)


class Training(unittest.TestCase):
    def page(self, *launches):
        row = {"name": "optcast", "label": "optcast", "kind": "ours", "launches": list(launches)}
        setups = [{"servers": 8, "rate": 200, "rows": [{**row, "name": "default", "label": "default"}, row]}]
        return "\n".join(training.section({"words": "--steps 3", "hosts": 8, "losses": [1], "setups": setups}))

    def test_exposed(self):
        page = self.page({"losses": [1], "seconds": 2.0, "computing": 1.5, "exposed": 0.4, "waiting_least": 0.1, "waiting": 0.6})
        self.assertIn("| optcast | 2.00 s (2.00–2.00 s) | 1.00 | 1.50 s (1.50–1.50 s) | 400 ms (400–400 ms) | 20.0 % | "
                      "100 ms (100–100 ms) | 600 ms (600–600 ms) | 1 of 1 |", page)

    def test_older_files(self):
        page = self.page({"losses": [2], "seconds": 2.0, "computing": 1.5, "exposed": 0.1, "waiting": 0.6}, {"error": "no"})
        self.assertIn("| 500 ms (500–500 ms) | 25.0 % | 100 ms (100–100 ms) | 600 ms (600–600 ms) | 0 of 1 |", page)

    def test_what_is_kept(self):
        numbers = {"losses": [3, 2, 1], "accuracy": 0.5, "seconds": [9, 2, 4], "computing": [1, 1, 2], "exposed": [8, 1, 2],
                   "waiting_least": [0, 0, 1], "waiting": [5, 1, 3]}
        kept = training.numbers_of(contestants.DEFAULT, launch.Outcome(numbers, "", 1.0, "", True))
        self.assertEqual([kept[name] for name in training.TIMES], [3, 1.5, 1.5, 0.5, 2])


class Scale(unittest.TestCase):
    @staticmethod
    def row(load, groups, seconds, **changes):
        return {"load": load, "unit": "chunk", "ranks": 4, "groups": groups, "units": 1000,
                "bytes": 2e9, "tcp": False, "seconds": seconds, "user": [0.25, 0.5, 0.5],
                "instructions": [0, 0, 0], **changes}

    def measured(self):
        return {"rounds": 3, "rows": [
            self.row("chunks", 1, [0.010, 0.020, 0.015]),
            self.row("chunks", 64, [0.018, 0.030, 0.017], instructions=[9e6, 8e6, 7e6]),
            self.row("tcp", 1, [2.0, 4.0, 3.0], ranks=8, tcp=True)]}

    def test_section(self):
        lines = scale.section(self.measured())
        begin = "| for a chunk of 16 KiB from each rank |"
        self.assertIn(f"{begin} 1 | 15.0 µs (10.0–20.0 µs) | 1.00 | not counted here |", lines)
        self.assertIn(f"{begin} 64 | 18.0 µs (17.0–30.0 µs) | 1.20 | 8000 |", lines)
        # user and kernel are those of each round
        self.assertIn("| 8 | 1.50 s (1.00–2.00 s) | 750 ms | 750 ms |", lines)



def launches(auto, always, default):
    """Of a setup of regret: each size takes the same, in each of two launches."""
    def side(times):
        return [{"bytes": size, "seconds": times, "iterations": 1, "offloaded": 1,
                 "previous": default} for size in regret.SIZES]
    return [{"auto": side(auto * noise), "always": side(always * noise)} for noise in (1, 1.02)]


class Regret(unittest.TestCase):
    def measured(self, auto, always, default):
        return {"setups": [{"name": "x", "collective": "bcast", "hosts": 2, "per_host": 4,
                            "servers": 0, "rate": 100, "commit": "abc",
                            "launches": launches(auto, always, default)}]}

    def test_every_combination(self):
        found = regret.setups()
        self.assertEqual(len(found), len({setup.name for setup in found}))
        self.assertEqual({(s.rate, s.hosts) for s in found},
                         {(100, 2), (100, 4), (100, 8), (1000, 2), (1000, 4)})
        self.assertEqual({s.servers for s in found if s.hosts == 8}, {0, 2, 8})
        self.assertEqual(sum(s.collective == "bcast" for s in found), 10)
        self.assertEqual({(s.rate, s.hosts, s.servers) for s in found if s.collective == "reduce"},
                         {(100, 4, 0), (100, 4, 4), (100, 8, 0)})

    def test_the_better_one_counts(self):
        cell = regret.cells(self.measured(auto=3, always=2, default=4))[0]
        self.assertAlmostEqual(cell.regret, 1.5)
        self.assertAlmostEqual(cell.gain, 4 / 3.03)
        self.assertTrue(cell.misses(1.25))
        self.assertFalse(cell.misses(1.6))
        cell = regret.cells(self.measured(auto=3, always=4, default=2))[0]
        self.assertAlmostEqual(cell.regret, 1.515)

    def test_launches_that_overlap_miss_nothing(self):
        measured = self.measured(auto=3, always=2, default=4)
        measured["setups"][0]["launches"][1]["always"][0]["seconds"] = 3.01
        measured["setups"][0]["launches"][0]["always"][0]["seconds"] = 1
        self.assertFalse(regret.cells(measured)[0].misses(1.25))

    def test_page(self):
        page = "\n".join(regret.section(self.measured(auto=3, always=2, default=4)))
        self.assertIn("in **0.0 %** of them (target: 95 %), and at most 1.25 in all but **5**", page)
        self.assertIn("bcast, 2 hosts × 4, 100 Mbit/s, 64 KiB: 1.50", page)
        self.assertIn("| 2 × 4 | 100 | 1.32 (1.50) |", page)

    def test_goes_on_where_it_was(self):
        old = {"setups": [{"name": setup.name, "launches": launches(1, 1, 1)}
                          for setup in regret.setups()[1:]]}
        kept, begun = [], []

        def measure_setup(runner, count, found):
            begun.append((runner.setup.name, count, found))
            return {"name": runner.setup.name, "launches": launches(1, 1, 1)}
        options = mock.Mock(quick=False, set=(), keep=False, unchecked=False)
        with mock.patch.object(regret, "Cluster"), mock.patch.object(regret, "Teller"), \
                mock.patch.object(regret, "measure_setup", measure_setup):
            result = regret.measure_all(options, 2, old, kept.append)
        self.assertEqual(begun, [(regret.setups()[0].name, 2, None)])
        self.assertEqual(len(kept), 1)
        self.assertEqual([s["name"] for s in result["setups"]],
                         [s.name for s in regret.setups()])


class Publishing(unittest.TestCase):
    """What is measured for the repository."""

    def git(self, folder, *words):
        subprocess.run(["git", "-C", folder, "-c", "user.name=n", "-c", "user.email=e", *words],
                       check=True, capture_output=True)

    @unittest.skipUnless(shutil.which("git"), "git is not installed")
    def test_sources(self):
        with tempfile.TemporaryDirectory() as name, \
                mock.patch.object(paths, "REPO", pathlib.Path(name)):
            self.assertEqual(facts.changed(), [])  # no repository: a release
            self.git(name, "init", "-q")
            folder = pathlib.Path(name, "bench/results")
            folder.mkdir(parents=True)
            pathlib.Path(name, "a.c").write_text("int a;", encoding="utf-8")
            self.git(name, "add", "a.c")
            self.git(name, "commit", "-qm", "a")
            (folder / "new.json").write_text("{}", encoding="utf-8")
            self.assertEqual(facts.changed(), [])
            publish.check_sources(facts.changed())
            pathlib.Path(name, "a.c").write_text("int b;", encoding="utf-8")
            self.assertEqual(facts.changed(), ["a.c"])
            self.assertTrue(facts.commit().endswith(" dirty"))
            with self.assertRaisesRegex(publish.PublishError, "a.c: not as committed"):
                publish.check_sources(facts.changed())

    def test_many_sources(self):
        with self.assertRaisesRegex(publish.PublishError, "1, 2, 3 and 2 more:"):
            publish.check_sources(["1", "2", "3", "4", "5"])

    def test_busy_share(self):
        before = "cpu  100 0 50 1000 10 0 0 0 0 0"
        self.assertAlmostEqual(publish.busy_share(before, "cpu  110 0 60 1075 15 0 0 0 0 0"), 0.2)
        self.assertEqual(publish.busy_share(before, before), 0)
        self.assertTrue(0 <= publish.busy_share(publish.read_times(), publish.read_times()) <= 1)

    def test_load(self):
        shares = [0.5, 0.3, 0.05]
        publish.check_load(lambda: shares.pop(0))
        self.assertEqual(shares, [])
        with self.assertRaisesRegex(publish.PublishError, "^50 % of the processors"):
            publish.check_load(lambda: 0.5)


class Interrupted(unittest.TestCase):
    def setUp(self):
        for number in interrupt.SIGNALS:
            self.addCleanup(signal.signal, number, signal.getsignal(number))
        self.addCleanup(interrupt.GOT.clear)
        interrupt.catch()

    def test_at_once(self):
        with self.assertRaises(SystemExit) as end:
            os.kill(os.getpid(), signal.SIGHUP)
        self.assertEqual(end.exception.code, 128 + signal.SIGHUP)

    def test_while_a_destructor_runs(self):
        class Dying:
            def __del__(self):
                os.kill(os.getpid(), signal.SIGTERM)
                time.sleep(0.01)

        with mock.patch.object(sys, "unraisablehook", lambda _: None):
            Dying()
        self.assertEqual(interrupt.GOT, [signal.SIGTERM])
        process = subprocess.Popen(["sleep", "60"])
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        with self.assertRaises(SystemExit) as end:
            launch.wait(process, pathlib.Path("/nowhere"), 5)
        self.assertEqual(end.exception.code, 128 + signal.SIGTERM)


class Simulate(unittest.TestCase):
    @staticmethod
    def trial(**changes):
        """What the program says of one."""
        return {"seconds": 0.02, "slowest": 0.075, "floor": 0.01, "up_bytes": 1000.0, "crossings": 120,
                "multicast_crossings": 100, "lost": 2, "fragments_sent": 64, "fragments_lost": 5,
                "repair_bytes": 2864, "control_messages": 10, "lost_at_port": 0, "lost_at_node": 0,
                "peers": 9, "background": 5e8, **changes}

    def test_closed_form(self):
        self.assertEqual(simulate.crossings_of_multicast(64, 4, 16), 64 * (64 + 16 + 4))
        self.assertEqual(simulate.crossings_of_multicast(65, 4, 16), 65 * (65 + 17 + 5))
        # one pod needs no core
        self.assertEqual(simulate.crossings_of_multicast(64, 16, 256), 64 * (64 + 4))

    def test_cases_are_what_the_program_takes(self):
        known = {"operation", "hosts", "ranks", "bytes", "operations", "datagram", "rate", "latency", "leaf", "pod",
                 "burst", "piece", "tcp-window", "port", "staging", "loss", "root-loss", "tcp", "pause", "cut",
                 "cut-hosts"}
        tables = {name for name, *_ in simulate.TABLES}
        for table, options in simulate.cases():
            self.assertLessEqual(set(options), known)
            self.assertIn(table, tables)
        self.assertLessEqual(set(simulate.EMULATED), known)

    def test_section(self):
        rows = [{"table": table, "options": options, "trials": [self.trial(), self.trial(seconds=0.03)]}
                for table, options in simulate.cases()]
        lines = simulate.section(rows)
        for name, title, *_ in simulate.TABLES[2:]:
            self.assertIn(f"## {title}", lines, name)
        # what is lost is beyond the median, which is without multicast
        self.assertTrue(any("75.0 ms" in line and line.rstrip().endswith("2.00 |") for line in lines))
        # the base of a ratio is the row without losses, and bytes are compared with what was lost
        self.assertTrue(any(line.startswith("| 64 | 1.0 % | 25.0 ms") and "| 1.00 |" in line for line in lines))
        self.assertTrue(any(line.startswith("| 8 | 25.0 ms") and line.endswith("| 1.00 |") for line in lines))

    def test_emulated(self):
        rows = [{"table": "emulated", "options": {"operation": "bcast", "hosts": 4, "bytes": 4 * MiB},
                 "trials": [self.trial(seconds=0.104)],
                 "measured": {"seconds": [0.09, 0.1, 0.11], "sent": 990.0}}]
        line = next(line for line in simulate.section(rows) if line.startswith("| bcast"))
        self.assertIn("+4.0 %", line)
        self.assertIn("+1.0 %", line)

    def test_emulated_ranks_and_streams(self):
        setup = {"name": "4", "collective": "allgather", "hosts": 4, "per_host": 4, "servers": 0, "rate": 200,
                 "rows": [{"contestant": name, "bytes": MiB, "launches": [
                     {"seconds": [0.1], "offloaded": 1, "operations": 1,
                      **({"wire": None, "link": 24e6} if "streams" in name else {"wire": {"sent": 990.0}})}]}
                          for name in ("optcast", "optcast-streams")],
                 "contestants": [{"name": name, "label": name, "kind": "ours", "scheme": "peers"}
                                 for name in ("optcast", "optcast-streams")]}
        with mock.patch.object(simulate, "play", return_value=self.trial(seconds=0.1, background=12.5e6)), \
                mock.patch.object(simulate, "cases", return_value=[]):
            rows = simulate.measure(mock.Mock(quick=True), 1, [setup], mock.Mock())
        self.assertEqual([(row["table"], row["options"]["ranks"], row["options"]["tcp"]) for row in rows],
                         [("emulated", 4, 0), ("beside", 4, 4)])
        lines = "\n".join(simulate.section(rows))
        self.assertRegex(lines, r"\| allgather \| 4 \| 4 \| 1 MiB .* \+1\.0 % \|")
        # 24 of 25 MB/s, of which 7.9 are its own, with headers 8.3, and of the rest 1448/1514
        self.assertRegex(lines, r"\| allgather \| 4 \| 1 MiB \| .* \| 31 % \| 31 % \| 60 % \| 50 % \|")

    def test_rate_of_link(self):
        row = {"wire": {"rx_sum": 800, "tx_sum": 400, "hosts": 4}, "seconds": [1, 3]}
        self.assertEqual(measure.rate_of_link(row, 1), 100)
        self.assertEqual(measure.rate_of_link(row, 20), 2000)
        self.assertIsNone(measure.rate_of_link({"wire": None, "seconds": [1]}, 1))


if __name__ == "__main__":
    unittest.main()
