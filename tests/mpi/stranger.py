#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Peers of the control connection that do not keep to the protocol.

usage: stranger.py serve KIND           prints "ready on HOST:PORT", serves until it is ended
       stranger.py send KIND HOST:PORT  prints what the server answered
       stranger.py besiege PID COUNT    keeps so many silent connections to the embedded server of a
                                        process, prints "besieged" and goes on until it is ended

serve: version, garbage, close, mute.
send: garbage, half, silent, oversized, version, hello-version, address, crowd.
"""
import os
import resource
import socket
import struct
import sys
import time

MAGIC, VERSION, HELLO, REFUSE = b"OCST", 11, 1, 3
CROWD = 200


def frame(kind, body, version=VERSION, length=None):
    return MAGIC + struct.pack("<HHI", version, kind, len(body) if length is None else length) + body


def hello(low=VERSION, high=VERSION, address=bytes(range(100))):
    body = struct.pack("<HH", low, high) + os.urandom(16 + 32)
    return frame(HELLO, body + struct.pack("<II", 0, len(address)) + address + b"\0")


def serve(kind):
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)
    print("ready on 127.0.0.1:%d" % listener.getsockname()[1], flush=True)
    held = []
    while True:
        peer = listener.accept()[0]
        if kind != "mute":
            peer.recv(4096)
        if kind == "version":
            peer.sendall(frame(2, b"\0" * 64, version=VERSION + 1))
        elif kind == "garbage":
            peer.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        elif kind == "close":
            peer.close()
            continue
        held.append(peer)


def answer(peer, patience):
    """The text of a REFUSE, or what else the server did."""
    peer.settimeout(patience)
    data = b""
    try:
        while True:
            piece = peer.recv(65536)
            if not piece:
                break
            data += piece
    except socket.timeout:
        return "no answer in %d s" % patience
    except ConnectionResetError:
        pass
    if not data:
        return "closed"
    if data[:4] == MAGIC and struct.unpack("<H", data[6:8])[0] == REFUSE:
        return "refused: " + data[28:].decode()
    return "something else: %r" % data


def send(kind, address):
    host, port = address.rsplit(":", 1)
    peer = socket.create_connection((host, int(port)), timeout=5)
    patience = 3
    if kind == "garbage":
        peer.sendall(b"GET / HTTP/1.0\r\n\r\n" + os.urandom(300))
    elif kind == "half":
        peer.sendall(hello()[:40])
        peer.close()
        return "left"
    elif kind == "silent":
        peer.sendall(hello()[:40])
        patience = 8
    elif kind == "oversized":
        peer.sendall(frame(HELLO, b"x" * 100, length=0xffffffff))
    elif kind == "version":
        peer.sendall(frame(HELLO, b"x" * 100, version=VERSION + 1))
    elif kind == "hello-version":
        peer.sendall(hello(90, 99))
    elif kind == "address":
        peer.sendall(hello())
    elif kind == "crowd":
        crowd = [socket.create_connection((host, int(port)), timeout=5) for _ in range(CROWD)]
        print("%d are there" % len(crowd), flush=True)
        time.sleep(4)
        return "left"
    return answer(peer, patience)


def is_server(port):
    """Whether it speaks the protocol: others who listen there are left alone."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=5) as peer:
            peer.sendall(b"x" * 64)
            return answer(peer, 3).startswith("refused")
    except OSError:
        return False


def ports_of(pid):
    """Where the process listens."""
    own = set()
    for name in os.listdir("/proc/%s/fd" % pid):
        link = os.readlink("/proc/%s/fd/%s" % (pid, name))
        if link.startswith("socket:["):
            own.add(link[8:-1])
    for table in ("tcp", "tcp6"):
        with open("/proc/%s/net/%s" % (pid, table)) as lines:
            for fields in map(str.split, list(lines)[1:]):
                if fields[3] == "0A" and fields[9] in own:
                    yield int(fields[1].rsplit(":", 1)[1], 16)


def besiege(pid, count):
    resource.setrlimit(resource.RLIMIT_NOFILE, (count + 100, count + 100))
    port = next(port for port in ports_of(pid) if is_server(port))
    crowd = [socket.create_connection(("127.0.0.1", port), timeout=20) for _ in range(count)]
    print("besieged", flush=True)
    while True:
        for i, peer in enumerate(crowd):
            try:
                peer.setblocking(False)
                if peer.recv(4096):
                    continue
            except BlockingIOError:
                continue
            except OSError:
                pass
            peer.close()
            crowd[i] = socket.create_connection(("127.0.0.1", port), timeout=20)
        time.sleep(0.05)


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "serve":
        serve(sys.argv[2])
    elif len(sys.argv) == 4 and sys.argv[1] == "send":
        print(send(sys.argv[2], sys.argv[3]), flush=True)
    elif len(sys.argv) == 4 and sys.argv[1] == "besiege":
        besiege(sys.argv[2], int(sys.argv[3]))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
