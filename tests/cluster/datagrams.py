#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Owns numbered UDP datagrams between hosts: "receive ADDRESS COUNT READY_FILE" prints how many different
ones of COUNT came, a second after the last one at the latest; "send ADDRESS COUNT" sends them slowly.

ADDRESS is that of the receiver, or a multicast group.
"""
import socket
import struct
import sys
import time

PORT = 7700
SIZE = 1000


def receive(address, count, ready):
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
    sock.bind(("", PORT))
    if 224 <= int(address.split(".")[0]) < 240:
        membership = struct.pack("4sl", socket.inet_aton(address), socket.INADDR_ANY)
        sock.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, membership)
    # a switch that prunes needs a moment to learn of a member
    time.sleep(0.2)
    with open(ready, "w", encoding="ascii"):
        pass
    came = set()
    sock.settimeout(2)
    try:
        while len(came) < count:
            came.add(struct.unpack_from("!I", sock.recv(2 * SIZE))[0])
            sock.settimeout(1)
    except socket.timeout:
        pass
    print(len(came))


def send(address, count):
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    for number in range(count):
        sock.sendto(struct.pack("!I", number).ljust(SIZE), (address, PORT))
        time.sleep(0.0002)


if sys.argv[1] == "receive":
    receive(sys.argv[2], int(sys.argv[3]), sys.argv[4])
else:
    send(sys.argv[2], int(sys.argv[3]))
