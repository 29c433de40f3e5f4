#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Owns what a stranger sends without any library:

raw ADDRESS PORT...    garbage to TCP ports, such as UCX asserts on; prints "ADDRESS:PORT closed", "...
                       open" or "... dropped" for each: no listener, a connection, or no answer at all
cast GROUP PORT SECONDS
                       datagrams to a multicast address, and copies of those that are heard there with
                       other contents; prints how many
"""
import os
import socket
import struct
import sys
import time
import zlib

MAGIC = struct.pack("<Q", 0xCAFEBABE12345678)
PATIENCE = 1.5


def pieces():
    """UCX: magic number, then active messages: id (1 byte), length (4 bytes), data."""
    yield os.urandom(64)
    yield MAGIC
    for kind in (0, 1, 2, 3, 9, 10, 11, 26, 28, 31, 255):
        for length in (0, 16, 60, 0xFFFF, 0xFFFFFFFF):
            yield MAGIC + struct.pack("<BI", kind, length) + os.urandom(60)
    yield b"GET / HTTP/1.0\r\n\r\n"


def connect(address, port):
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    peer = socket.socket(family, socket.SOCK_STREAM)
    peer.settimeout(PATIENCE)
    peer.connect((address, port))
    return peer


def raw(address, ports):
    for port in ports:
        state = "open"
        try:
            for piece in pieces():
                with connect(address, port) as peer:
                    peer.sendall(piece)
                    time.sleep(0.01)
        except ConnectionRefusedError:
            state = "closed"
        except socket.timeout:
            state = "dropped"
        except OSError as error:
            state = "open, then %s" % error
        print("%s:%d %s" % (address, port, state), flush=True)


def cast(group, port, seconds):
    own = os.environ.get("OWN_ADDRESS", "0.0.0.0")
    out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    out.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(own))
    heard = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    heard.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    heard.bind((group, port))
    heard.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP,
                     socket.inet_aton(group) + socket.inet_aton(own))
    heard.settimeout(0.01)
    end, sent, copies = time.monotonic() + seconds, 0, 0
    while time.monotonic() < end:
        out.sendto(os.urandom(1 + sent % 1400), (group, port))
        sent += 1
        try:
            data = bytearray(heard.recv(65536))
        except socket.timeout:
            continue
        if len(data) > 100:
            data[-1 - zlib.crc32(bytes(data)) % 60] ^= 0x55
            out.sendto(data, (group, port))
            copies += 1
    print("%d datagrams, %d copies" % (sent, copies))


if sys.argv[1] == "raw":
    raw(sys.argv[2], [int(port) for port in sys.argv[3:]])
else:
    cast(sys.argv[2], int(sys.argv[3]), float(sys.argv[4]))
