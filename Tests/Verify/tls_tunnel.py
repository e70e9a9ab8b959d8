#!/usr/bin/env python3
"""Accepts plain connections and forwards each one over TLS, so that a test for plain HTTP reaches a TLS listener.

    Tests/Verify/tls_tunnel.py LISTEN_PORT TLS_PORT --authority root.pem --name a.test

An end of what the client sends becomes close_notify, and the other direction stays open. A reset on one side becomes
a reset on the other, and an end without close_notify becomes an end. Runs on loopback.
"""

import argparse
import select
import socket
import ssl
import struct
import threading


class Tunnel:
    """One connection: `client` is plain, `server` carries TLS."""

    def __init__(self, client, port, context, name):
        self.client = client
        self.server = socket.create_connection(("127.0.0.1", port))
        for side in (self.client, self.server):
            side.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(self.incoming, self.outgoing, server_hostname=name)

    def flush(self):
        if data := self.outgoing.read():
            self.server.sendall(data)

    def handshake(self):
        while True:
            try:
                self.tls.do_handshake()
                self.flush()
                return
            except ssl.SSLWantReadError:
                self.flush()
                data = self.server.recv(65536)
                if not data:
                    raise ConnectionError("the connection ended during the handshake")
                self.incoming.write(data)

    def run(self):
        try:
            self.handshake()
            self.relay()
        except (OSError, ssl.SSLError):
            reset(self.client)
            reset(self.server)
        finally:
            self.client.close()
            self.server.close()

    def relay(self):
        reading = select.poll()  # `select` knows no descriptors above 1023
        for side in (self.client, self.server):
            reading.register(side, select.POLLIN)
        is_open = True
        while is_open:
            for number, _ in reading.poll():
                if number == self.client.fileno():
                    if data := self.client.recv(65536):
                        self.tls.write(data)
                    else:
                        reading.unregister(self.client)
                        self.end()
                    self.flush()
                elif not self.receive():
                    is_open = False
        self.client.shutdown(socket.SHUT_WR)

    def end(self):
        """Sends close_notify; the answer to it is not needed."""
        try:
            self.tls.unwrap()
        except (ssl.SSLWantReadError, ssl.SSLSyscallError):
            pass

    def receive(self):
        """Passes on what the server sent; false at its end."""
        data = self.server.recv(65536)
        if data:
            self.incoming.write(data)
        try:
            while piece := self.tls.read(65536):
                self.client.sendall(piece)
        except ssl.SSLWantReadError:
            return bool(data)
        except ssl.SSLZeroReturnError:
            return False
        return False


def reset(side):
    """Makes the close of this socket a reset."""
    side.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("listen", type=int)
    parser.add_argument("port", type=int)
    parser.add_argument("--authority", required=True)
    parser.add_argument("--name", default="localhost")
    options = parser.parse_args()
    context = ssl.create_default_context(cafile=options.authority)
    context.set_alpn_protocols(["http/1.1"])
    listener = socket.create_server(("127.0.0.1", options.listen), backlog=256)
    while True:
        client, _ = listener.accept()
        try:
            tunnel = Tunnel(client, options.port, context, options.name)
        except OSError:
            reset(client)
            client.close()
            continue
        threading.Thread(target=tunnel.run, daemon=True).start()


if __name__ == "__main__":
    main()
