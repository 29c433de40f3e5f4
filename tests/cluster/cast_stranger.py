#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Owns somebody outside a job, who joins its multicast address: "stranger.py ADDRESS PORT OWN SECONDS KIND...".

OWN is the address of this host. For each fragment that comes it sends others by the kinds given:
  plain    the fragment with other bytes, from an address of its own
  copy     the fragment as it is, from an address of its own
  port     with other bytes, from the sender's port, and an address of its own
  spoofed  with other bytes, in the name of its sender (needs raw sockets)
  next     what the sender may send next, with a checksum that fits, in its name (needs raw sockets)
  replay   the fragment as it is, in the name of its sender (needs raw sockets)
In the end it says how many fragments it has seen, and how many it has sent of each kind.
"""
import collections
import os
import socket
import struct
import sys
import time

CODE = 16
HEADER = 40
FRAGMENT = 1
MAGIC = b"OM\x04"


def checksum(data):
    """CRC32C, bit by bit: for a few bytes only."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def changed(datagram):
    """The same header and code, and other bytes."""
    return datagram[:HEADER] + bytes(byte ^ 0x5A for byte in datagram[HEADER:])


def following(datagram):
    """A whole block of the next operation, if its blocks are small; else the next fragment."""
    generation, = struct.unpack_from("<I", datagram, CODE + 4)
    index, = struct.unpack_from("<I", datagram, CODE + 16)
    body = datagram[HEADER:]
    if index == 0 and len(body) < 1000:
        data = bytes(len(body) - 4)
        body = data + struct.pack("<I", checksum(data))
        generation += 1
    else:
        index += 1
    head = datagram[CODE:CODE + 4] + struct.pack("<I", generation) + datagram[CODE + 8:CODE + 16] \
        + struct.pack("<I", index) + datagram[CODE + 20:HEADER]
    return os.urandom(CODE) + head + body


class Stranger:
    """Its sockets, and what it has done."""

    def __init__(self, group, port, own, kinds):
        self.group, self.port, self.own, self.kinds = group, port, own, kinds
        self.seen, self.sent = 0, dict.fromkeys(kinds, 0)
        self.ears = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.ears.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.ears.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        self.ears.bind((group, port))
        self.ears.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP,
                             socket.inet_aton(group) + socket.inet_aton(own))
        self.ears.settimeout(0.2)
        self.mouth = self.open(socket.SOCK_DGRAM, 0)
        self.raw = None
        if {"spoofed", "next", "replay", "port"} & set(kinds):
            self.raw = self.open(socket.SOCK_RAW, socket.IPPROTO_RAW)

    def open(self, kind, protocol):
        """A socket that sends to the group."""
        sock = socket.socket(socket.AF_INET, kind, protocol)
        sock.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(self.own))
        sock.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_LOOP, 1)
        return sock

    def fake(self, sender, payload):
        """Sends in the name of a sender."""
        udp = struct.pack("!HHHH", sender[1], self.port, 8 + len(payload), 0) + payload
        head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 0, 0, 4, socket.IPPROTO_UDP, 0,
                           socket.inet_aton(sender[0]), socket.inet_aton(self.group))
        self.raw.sendto(head + udp, (self.group, 0))

    def attack(self, kind, datagram, sender):
        """Sends one, and returns it."""
        if kind == "next":
            datagram = following(datagram)
        elif kind in ("plain", "port", "spoofed"):
            datagram = changed(datagram)
        if kind in ("plain", "copy"):
            self.mouth.sendto(datagram, (self.group, self.port))
        else:
            self.fake((self.own, sender[1]) if kind == "port" else sender, datagram)
        self.sent[kind] += 1
        return datagram

    def work(self, seconds):
        """Until the time is over."""
        end, mine = time.monotonic() + seconds, collections.deque(maxlen=64)
        while time.monotonic() < end:
            try:
                datagram, sender = self.ears.recvfrom(65536)
            except socket.timeout:
                continue
            if datagram[CODE:CODE + 3] != MAGIC or datagram[CODE + 3] != FRAGMENT:
                continue
            # what it sends comes back to it
            if sender[1] == self.mouth.getsockname()[1] or datagram in mine:
                continue
            self.seen += 1
            for kind in self.kinds:
                mine.append(self.attack(kind, datagram, sender))
        print("saw", self.seen, "sent", " ".join(f"{kind} {count}" for kind, count in self.sent.items()))


Stranger(sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[5:]).work(float(sys.argv[4]))
