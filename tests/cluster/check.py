# SPDX-License-Identifier: BSD-3-Clause
"""Owns the verdict on links that all carry traffic at once: arguments RATE HOSTS MTU HEADERS DIRECTORY.

In the directory are what iperf3 said of the client of each host (client.K) and the counters before and
after. Goodput has to be at least 95 % of what headers leave of the rate, and counters have to agree with
the payload within 2 %, on each link and in each direction. The exit status is 1 if not.
"""
import json
import sys


def counters(path):
    with open(path, encoding="ascii") as file:
        names, *lines = [line.split() for line in file]
    return {line[0]: dict(zip(names[1:], map(int, line[1:]))) for line in lines}


def main():
    rate, hosts, mtu, headers = map(int, sys.argv[1:5])
    directory = sys.argv[5]
    ethernet = 14
    limit = rate * (mtu + ethernet - headers) / (mtu + ethernet)
    before, after = counters(directory + "/before"), counters(directory + "/after")
    payload, goodput = {}, {}
    for k in range(1, hosts + 1):
        with open(f"{directory}/client.{k}", encoding="utf-8") as file:
            end = json.load(file)["end"]
        payload[k] = end["sum_sent"]["bytes"]
        goodput[k] = end["sum_received"]["bits_per_second"] / 1e6
    good = True
    print(f"{'link':<10} {'Mbit/s':>8} {'of limit':>8} {'counted/payload tx':>18} {'rx':>6}")
    for k in range(1, hosts + 1):
        previous = (k - 2) % hosts + 1
        name = f"h{k}"
        ratio = goodput[k] / limit
        counted = {}
        for way, sent in (("tx", payload[k]), ("rx", payload[previous])):
            count = {what: after[name][f"{way}_{what}"] - before[name][f"{way}_{what}"]
                     for what in ("bytes", "packets")}
            counted[way] = (count["bytes"] - headers * count["packets"]) / sent
        good = good and ratio >= 0.95 and all(abs(c - 1) <= 0.02 for c in counted.values())
        print(f"h{k}->h{k % hosts + 1:<6} {goodput[k]:8.1f} {ratio:8.3f} {counted['tx']:18.4f} {counted['rx']:6.4f}")
    print(f"limit {limit:.1f} Mbit/s of payload: {'ok' if good else 'NOT OK'}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
