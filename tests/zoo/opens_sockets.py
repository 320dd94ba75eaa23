import socket

from attempts import TARGETS, Attempting

EXPECTED = {"sandbox": "plays on"}


class OpensSockets(Attempting):
    def attempts(self):
        yield "loopback", lambda: socket.create_connection(("127.0.0.1", TARGETS["port"]), 0.2)
        yield "loopback 6", lambda: socket.create_connection(("::1", TARGETS["port"]), 0.2)
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW):
            for family in (socket.AF_INET, socket.AF_INET6, socket.AF_UNIX, socket.AF_NETLINK, socket.AF_PACKET):
                yield f"{family!r} {kind!r}", lambda family=family, kind=kind: socket.socket(family, kind)
        yield "outside", self.send
        yield "a name", lambda: socket.socketpair()[0].bind("\0zoo") or "bound"

    def send(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as outside:
            outside.connect(("192.0.2.1", 9))
            return outside.send(b"x")
