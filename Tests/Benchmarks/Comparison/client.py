"""A client with one connection, for what needs an exact number of requests."""

import re
import socket
import sys


class Client:
    def __init__(self, gateway, path):
        self.name = gateway.name
        self.connection = socket.create_connection(("127.0.0.1", gateway.port), timeout=30)
        self.request = f"GET {path} HTTP/1.1\r\nHost: a\r\n\r\n".encode()

    def exchange(self):
        self.send()
        self.receive()

    def send(self):
        self.connection.sendall(self.request)

    def receive(self):
        """Reads one response with a known length."""
        received = b""
        while b"\r\n\r\n" not in received:
            received += self.read()
        head, body = received.split(b"\r\n\r\n", 1)
        if not head.startswith(b"HTTP/1.1 200"):
            sys.exit(f"{self.name}: {head[:200]}")
        left = int(re.search(rb"content-length: *(\d+)", head, re.I)[1]) - len(body)
        while left > 0:
            left -= len(self.read())

    def read(self):
        piece = self.connection.recv(65536)
        if not piece:
            sys.exit(f"{self.name} closed a connection")
        return piece

    def close(self):
        self.connection.close()
