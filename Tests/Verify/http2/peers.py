"""Other servers for calibration: nghttpd, nginx, HAProxy and h2o of Debian."""

import pathlib
import shutil
import sys

from connection import Target
from naive import NaiveProxy

from harness import accepts, free_port, start, wait

NGINX = """\
daemon off; master_process off; pid {folder}/nginx.pid; error_log {folder}/nginx.log;
events {{ worker_connections 1024; }}
http {{
  access_log off; client_body_temp_path {folder}/b; proxy_temp_path {folder}/p; fastcgi_temp_path {folder}/f;
  uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
  client_header_timeout 3s; client_body_timeout 3s; keepalive_timeout 3s; send_timeout 30s; client_max_body_size 1m;
  server {{
    listen 127.0.0.1:{port} http2; listen 127.0.0.1:{http1};
    location / {{ proxy_pass http://127.0.0.1:{backend}; proxy_http_version 1.1; proxy_set_header Connection ""; }}
  }}
}}
"""
QUICK = """\
daemon off; master_process off; pid {folder}/nginx.pid; error_log {folder}/nginx.log;
events {{ worker_connections 4096; }}
http {{
  access_log off; client_body_temp_path {folder}/b; proxy_temp_path {folder}/p; fastcgi_temp_path {folder}/f;
  uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s; default_type application/json; client_max_body_size 0;
  server {{
    listen 127.0.0.1:{port};
    location / {{ return 200 '{{"ok":true}}'; }}
    location /large {{ root {folder}/files; }}
  }}
}}
"""
HAPROXY = """\
global
  maxconn 1000
defaults
  mode http
  timeout connect 3s
  timeout client 3s
  timeout server 10s
  timeout http-request 3s
  timeout http-keep-alive 3s
frontend main
  bind 127.0.0.1:{port}
  default_backend main
backend main
  server one 127.0.0.1:{backend}
"""
H2O = """\
user: root
listen: {{ host: 127.0.0.1, port: {port} }}
num-threads: 1
http1-request-timeout: 3
http2-idle-timeout: 3
limit-request-body: 1048576
pid-file: {folder}/h2o.pid
error-log: {folder}/h2o.log
hosts:
  default:
    paths:
      /:
        proxy.reverse.url: http://127.0.0.1:{backend}/
        proxy.preserve-host: ON
"""
HAPROXY_BACKENDS = """\
defaults
  mode http
  timeout connect 3s
  timeout client 10s
  timeout server 2s
  timeout http-request 3s
frontend main
  bind 127.0.0.1:{port}
  use_backend %[path,field(2,/)]
"""
PEERS = ("nghttpd", "nginx", "haproxy", "h2o", "naive")
BACKEND_PEERS = ("haproxy", "nghttpx")  # those with HTTP/2 to backends


def files(folder):
    """The files of nghttpd, which has no backend."""
    root = pathlib.Path(folder) / "files"
    root.mkdir()
    for name in ("ok", "empty", "slow", "upload"):
        (root / name).write_text('{"ok":true}')
    (root / "large").write_text('"' + "a" * 300_000 + '"')
    return root


class QuickBackend:
    """nginx as a backend: the recorder would take more of the machine than the gateway."""

    def __init__(self, folder):
        folder = pathlib.Path(folder) / "quick"
        folder.mkdir()
        files(folder)
        self.port = free_port()
        (folder / "config").write_text(QUICK.format(folder=folder, port=self.port))
        run(["nginx", "-p", str(folder), "-c", str(folder / "config")], folder, self.port)


def start_peer(name, folder, recorder):
    """Starts one: its target, and the id of its process."""
    if name == "naive":
        return Target("127.0.0.1", NaiveProxy(recorder.port).port, recorder=recorder), None
    port, http1 = free_port(), free_port()
    values = {"folder": folder, "port": port, "http1": http1, "backend": recorder.port}
    if name == "nghttpd":
        command = ["nghttpd", "--no-tls", "--address=127.0.0.1", f"--htdocs={files(folder)}", str(port)]
    else:
        config = folder / "config"
        config.write_text({"nginx": NGINX, "haproxy": HAPROXY, "h2o": H2O}[name].format(**values))
        command = {
            "nginx": ["nginx", "-p", str(folder), "-c", str(config)],
            "haproxy": ["haproxy", "-f", str(config)],
            "h2o": ["h2o", "-c", str(config)],
        }[name]
    process = run(command, folder, port)
    return Target("127.0.0.1", port, recorder=None if name == "nghttpd" else recorder), process.pid


def run(command, folder, port):
    """Starts a server, and waits for its port."""
    binary = shutil.which(command[0]) or f"/usr/sbin/{command[0]}"
    with open(folder / "output", "wb") as output:
        process = start([binary, *command[1:]], stdout=output, stderr=output)
    if not wait(lambda: accepts(port)):
        sys.exit(f"{command[0]} did not start: {(folder / 'output').read_text()}")
    return process


def start_for_backends(name, folder, cases):
    """A gateway in front of one backend for each case: its port, and a function that starts it again after a crash."""
    port = free_port()
    if name == "haproxy":
        backends = [f"backend {case.key}\n  server one 127.0.0.1:{case.port} proto h2\n" for case in cases]
        (folder / "config").write_text(HAPROXY_BACKENDS.format(port=port) + "".join(backends))
        command = ["haproxy", "-f", str(folder / "config")]
    else:
        routes = [f"--backend=127.0.0.1,{case.port};/{case.key};proto=h2" for case in cases]
        routes.append(f"--backend=127.0.0.1,{cases[0].port};;proto=h2")  # the rest: it requires one
        options = ["--workers=1", "--backend-read-timeout=2s", "--conf=/dev/null"]
        command = ["nghttpx", f"--frontend=127.0.0.1,{port};no-tls", *routes, *options]
    process = run(command, folder, port)

    def revive():
        nonlocal process
        if process.poll() is not None:
            print(f"{name} has ended with {process.returncode}", flush=True)
            process = run(command, folder, port)

    return port, revive
