"""What the checks with a running gateway share: expectations, and processes that are ended by their ids.

A failed expectation is printed at once; `finish` prints the result and ends the script with it.
"""

import atexit
import http.client
import http.server
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import threading
import time

failures = []
processes = []
checked = 0
lock = threading.Lock()


@atexit.register
def end_processes():
    """Also after an exception."""
    for process in processes:
        if process.poll() is None:
            process.kill()
            process.wait()


def expect(condition, what):
    global checked
    with lock:
        checked += 1
    if not condition:
        failures.append(what)
        print(f"failed: {what}", file=sys.stderr, flush=True)


def finish():
    end_processes()
    print(f"{len(failures)} of {checked} checks failed" if failures else f"all {checked} checks passed")
    sys.exit(1 if failures else 0)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Stub:
    """An HTTP server on a free port: `respond` gives status and body for a path."""

    def __init__(self, respond):
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                status, body = respond(self.path)
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        # A gateway that no longer waits.
        server.handle_error = lambda *_: None
        self.port = server.server_port
        threading.Thread(target=server.serve_forever, daemon=True).start()


def wait(condition, seconds=10, pause=0.01):
    """Whether the condition becomes true in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(pause)
    return False


def accepts(port):
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
        return True
    except OSError:
        return False


def certificate(folder, name="localhost"):
    """A self-signed certificate in the files cert.pem and key.pem of the folder, with openssl."""
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
    names = ["-subj", f"/CN={name}", "-addext", f"subjectAltName=DNS:{name}"]
    files = ["-keyout", f"{folder}/key.pem", "-out", f"{folder}/cert.pem"]
    subprocess.run(command + names + files, check=True, capture_output=True)
    pathlib.Path(folder, "key.pem").chmod(0o600)


class Listener:
    """Accepts connections on a free port of loopback; each gets a thread that calls `serve` of the subclass."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            connection, _ = self.listener.accept()
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()


def image_environment():
    """The environment of this process, with the variables that the image sets."""
    dockerfile = (pathlib.Path(__file__).resolve().parents[2] / "Dockerfile").read_text()
    return {**os.environ, **dict(re.findall(r"^ENV (\w+)=(\S+)$", dockerfile, re.M))}


def start(command, **options):
    process = subprocess.Popen(command, **options)
    processes.append(process)
    return process


class Server:
    """A process, its CPU time and its memory."""

    def __init__(self, command, **options):
        self.process = start(command, **options)

    def cpu(self):
        """In seconds."""
        return sum(self.cpu_parts())

    def cpu_parts(self):
        """User and system time of all threads, in seconds."""
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return tuple(int(field) / os.sysconf("SC_CLK_TCK") for field in fields[11:13])

    def memory(self, what="VmRSS"):
        """In KiB; `VmHWM` is the most so far."""
        return int(re.search(rf"{what}:\s+(\d+)", pathlib.Path(f"/proc/{self.process.pid}/status").read_text())[1])

    def own_memory(self):
        """Resident memory without pages of files, in KiB. A growth of all resident memory would include the pages of the program
        that a first request reads, or that the daemon releases after its start."""
        return self.memory("RssAnon")

    def wait_until(self, condition):
        """Ends the script if the server does not start."""
        if not wait(lambda: self.process.poll() is None and condition()):
            sys.exit(f"{self.process.args[0]} did not start")

    def kill(self):
        self.process.kill()
        self.process.wait()


class Gateway(Server):
    """A gateway on free ports, which ends with the script.

    - config: the text of the file, with the names of `ports` and of `values` in braces
    - ports: the names of the ports, besides `listen` and `admin`
    - launcher: the command that runs the gateway, such as `env` or `valgrind` with their arguments
    """

    def __init__(self, binary, folder, config, ports=(), name="gateway", launcher=(), **values):
        self.ports = {name: free_port() for name in ("listen", "admin", *ports)}
        self.port = self.ports["listen"]
        self.config = pathlib.Path(folder) / f"{name}.yaml"
        self.config.write_text(config.format(**self.ports, **values))
        self.log_path = pathlib.Path(folder) / f"{name}.log"
        with open(self.log_path, "wb") as log:
            super().__init__([*launcher, binary, "serve", str(self.config)], stdout=log, stderr=log)
        self.wait_until(lambda: self.page("/readyz")[0] == 200)

    def wait_until(self, condition):
        if not wait(lambda: self.process.poll() is None and condition()):
            sys.exit(f"the gateway did not start: {self.log_path.read_text()}")

    def page(self, path):
        """Status and text of a page of the admin address; status 0 if there is no response."""
        connection = http.client.HTTPConnection("127.0.0.1", self.ports["admin"], timeout=5)
        try:
            connection.request("GET", path)
            response = connection.getresponse()
            return response.status, response.read().decode()
        except OSError:
            return 0, ""
        finally:
            connection.close()

    def series(self, name):
        """The values of a metric, by their labels as text."""
        found = re.findall(rf"^{name}({{\S*}})? (\S+)$", self.page("/metrics")[1], re.M)
        return {labels: float(value) for labels, value in found}

    def reload(self):
        """Sends SIGHUP, and waits until the reload is counted."""
        before = self.series("tributary_config_reloads_total")
        self.process.send_signal(signal.SIGHUP)
        if not wait(lambda: self.series("tributary_config_reloads_total") != before):
            sys.exit("the reload was not counted")

    def stop(self, seconds=30):
        """SIGTERM; a gateway that does not end by it is a failure."""
        self.process.send_signal(signal.SIGTERM)
        try:
            expect(self.process.wait(seconds) == 0, f"the gateway ended with {self.process.returncode}")
        except subprocess.TimeoutExpired:
            expect(False, f"the gateway did not end within {seconds} s")
            self.kill()
