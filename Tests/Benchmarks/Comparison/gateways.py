"""The programs that are compared, with the same endpoints, and the backends that they call.

| path | response |
|---|---|
| /one/SIZE | the body of backend 1; SIZE is small, medium or large |
| /proxy/SIZE | the same, passed through without being read as JSON |
| /calls/COUNT/SIZE | {"b1":<body of backend 1>,...} of that many backends |
| /hang | as /calls/2/small, after a third call has not been answered for 200 ms |
"""

import json
import os
import pathlib
import shutil
import socket
import sys
import urllib.request

from bodies import BACKENDS, SIZES, WIDTHS, expected, text_of, value
from costs import compile_floor
from harness import Server, free_port, image_environment, wait
from machine import output, raise_descriptor_limit

HERE = pathlib.Path(__file__).resolve().parent
# In the order of tables and charts.
NAMES = ("floor", "tributary", "nginx-lua", "haproxy", "node")
TITLES = {
    "floor": "floor", "tributary": "Tributary", "nginx-lua": "nginx + Lua", "haproxy": "HAProxy", "node": "Node",
    "tributary-raised": "Tributary, raised limits", "tributary-ten": "Tributary, requests to ten"}
# With those that only growth curves have.
ALL_NAMES = tuple(TITLES)

NGINX = """\
{modules}daemon off; master_process off; pid {folder}/{name}.pid; error_log {folder}/{name}.log crit; worker_rlimit_nofile 65536;
{user}events {{ worker_connections {connections}; }}
http {{
  access_log off; default_type application/json; tcp_nodelay on;
  keepalive_requests 1000000000; keepalive_timeout 3600s;
  client_body_temp_path {folder}/{name}-body; proxy_temp_path {folder}/{name}-proxy; fastcgi_temp_path {folder}/{name}-f;
  uwsgi_temp_path {folder}/{name}-u; scgi_temp_path {folder}/{name}-s;
{rest}
}}
"""
BACKEND = """\
  server {{
    listen 127.0.0.1:{port} backlog=4096; root {folder}/{number};
    location = /small {{ return 200 '{small}'; }}
    location = /medium {{ return 200 '{medium}'; }}
  }}
"""
# Subrequests run at the same time; the bodies are joined without being parsed.
NGINX_LUA = """\
  proxy_http_version 1.1; proxy_set_header Connection ""; proxy_next_upstream off; proxy_buffer_size 8k; proxy_buffers 8 32k;
  proxy_connect_timeout 1s; proxy_read_timeout 2s;
{upstreams}
  init_worker_by_lua_block {{
    local capture, concat = ngx.location.capture_multi, table.concat
    function join_bodies(requests)
      local responses, pieces, separator = {{ capture(requests) }}, {{}}, '{{"b'
      for index, response in ipairs(responses) do
        if response.status == 200 then
          pieces[#pieces + 1] = separator .. index .. '":'
          pieces[#pieces + 1] = response.body
          separator = ',"b'
        end
      end
      pieces[#pieces + 1] = "}}"
      local body = concat(pieces)
      ngx.header.content_length = #body
      ngx.print(body)
    end
  }}
  server {{
    listen 127.0.0.1:{port} backlog=4096;
    location /one/ {{ proxy_pass http://b1/; }}
    location /proxy/ {{ proxy_pass http://b1/; }}
{internal}
    location = /to/hanging {{ internal; proxy_read_timeout 200ms; proxy_pass http://127.0.0.1:{hanging}/; }}
    location ~ ^/calls/(?<count>[0-9]+)/(?<size>[a-z]+)$ {{ content_by_lua_block {{
      local requests = {{}}
      for index = 1, tonumber(ngx.var.count) do requests[index] = {{ "/to/" .. index .. "/" .. ngx.var.size }} end
      join_bodies(requests)
    }} }}
    location = /hang {{ content_by_lua_block {{
      join_bodies({{ {{ "/to/1/small" }}, {{ "/to/2/small" }}, {{ "/to/hanging" }} }})
    }} }}
  }}
"""
HAPROXY = """\
global
  nbthread 1
  maxconn 9000
defaults
  mode http
  http-reuse always
  timeout client 600s
  timeout server 600s
  timeout connect 5s
frontend it
  bind 127.0.0.1:{port} backlog 4096
  default_backend b1
backend b1
  http-request replace-path /(one|proxy)(/.*) \\2
  server it 127.0.0.1:{first}
"""


def nginx(folder, name, rest, connections, modules=()):
    """The path of a configuration of one process, which also is the process that accepts."""
    loads = "".join(f"load_module {module};\n" for module in modules)
    # Without a user, a process of root would serve files as one that cannot read the folder.
    user = "user root;\n" if os.getuid() == 0 else ""
    path = folder / f"{name}.conf"
    path.write_text(NGINX.format(
        folder=folder, name=name, rest=rest, connections=connections, modules=loads, user=user))
    return str(path)


def lua_modules():
    """The modules of nginx for Lua, where they are installed; empty otherwise."""
    for option in output("nginx", "-V").split():
        folder = option.partition("--modules-path=")[2]
        paths = [pathlib.Path(folder) / name for name in ("ndk_http_module.so", "ngx_http_lua_module.so")]
        if folder and all(path.exists() for path in paths):
            return paths
    return []


class Backends:
    """nginx with one process and a port for each backend, and one that never responds."""

    def __init__(self, folder, processors):
        self.ports = [free_port() for _ in range(BACKENDS)]
        self.hanging = free_port()
        files = folder / "files"
        servers = []
        for number, port in enumerate(self.ports, 1):
            (files / str(number)).mkdir(parents=True)
            texts = {size: text_of(value(number, size)) for size in SIZES}
            (files / str(number) / "large").write_text(texts.pop("large"))
            quoted = {size: text.replace("\\", "\\\\").replace("'", "\\'") for size, text in texts.items()}
            servers.append(BACKEND.format(port=port, folder=files, number=number, **quoted))
        rest = "  sendfile on; open_file_cache max=100 inactive=1h; open_file_cache_valid 1h;\n" + "".join(servers)
        config = nginx(folder, "backends", rest, 60000)
        program = compile_floor(HERE / "hanging.c", folder, "-luv")
        with processors.pinned(processors.load), open(folder / "backends.out", "wb") as out:
            commands = (["nginx", "-p", str(folder), "-c", config], [program, str(self.hanging)])
            self.servers = [Server(command, stdout=out, stderr=out) for command in commands]
        if not wait(lambda: all(self.responds(port) for port in self.ports)):
            sys.exit(f"the backends did not start: {(folder / 'backends.out').read_text()}")

    @staticmethod
    def responds(port):
        try:
            return urllib.request.urlopen(f"http://127.0.0.1:{port}/large", timeout=2).status == 200
        except OSError:
            return False


def tributary_config(port, backends, workers=1, limits=None, endpoints=0, keepalive=None):
    """A configuration with default settings, except for the access log. JSON is YAML as well.

    - endpoints: how many further endpoints there are
    """
    options = {"keepalive": keepalive} if keepalive else {}
    hosts = {f"b{number}": {"url": f"http://127.0.0.1:{at}", **options} for number, at in enumerate(backends.ports, 1)}
    call = lambda number, path, **rest: {"from": f"b{number}", "get": path, **rest}
    calls = lambda count, path: {f"b{number}": call(number, path) for number in range(1, count + 1)}
    routes = [
        {"route": "GET /one/{size}", "calls": {"b1": call(1, "/{size}", at=".")}},
        {"route": "GET /proxy/{size}", "proxy": {"to": "b1", "path": "/{size}"}},
        {"route": "GET /hang", "report": "off", "timeout": "200ms", "calls": {
            **calls(2, "/small"), "b3": {"from": "hanging", "get": "/", "if_failed": "omit"}}},
        *({"route": f"GET /calls/{count}/{{size}}", "calls": calls(count, "/{size}")} for count in WIDTHS),
        *({"route": f"GET /e/{number}/{{id}}", "calls": calls(3, "/small")} for number in range(endpoints)),
    ]
    config = {
        "version": 1, "listen": f"127.0.0.1:{port}", "admin": "127.0.0.1:0", "workers": workers, "log": {"access": False},
        "backends": {**hosts, "hanging": {"url": f"http://127.0.0.1:{backends.hanging}"}}, "endpoints": routes}
    if limits:
        config["limits"] = limits
    return json.dumps(config, indent=1)


class Gateway(Server):
    """One of the programs, on a free port. It has started when it has answered a request."""

    def __init__(self, name, world, processors=None, path=None, **settings):
        self.name = name
        self.port = free_port()
        command = [*world.launcher, *world.command(name, self.port, settings)]
        log = world.folder / f"{name}.out"
        with world.processors.pinned(processors or world.processors.gateway), open(log, "wb") as out:
            environment = image_environment() if name.startswith("tributary") else None
            super().__init__(command, stdout=out, stderr=out, env=environment)
        self.wait_for(path or "/one/small", log)

    def wait_for(self, path, log):
        if not wait(lambda: self.process.poll() is not None or self.answers(path), pause=0.0002):
            sys.exit(f"{self.name} did not answer: {log.read_text()[-2000:]}")
        if self.process.poll() is not None:
            sys.exit(f"{self.name} ended with {self.process.returncode}: {log.read_text()[-2000:]}")

    def answers(self, path):
        """With a plain socket, so that the time to start is that of the gateway."""
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=2) as connection:
                connection.sendall(f"GET {path} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
                return connection.recv(4096).startswith(b"HTTP/1.1 200")
        except OSError:
            return False

    def get(self, path):
        return urllib.request.urlopen(self.url(path), timeout=10)

    def url(self, path):
        return f"http://127.0.0.1:{self.port}{path}"

    def cpu_of_threads(self):
        """Seconds of the threads that run now; in contrast to `cpu`, not in steps of 10 ms."""
        tasks = pathlib.Path(f"/proc/{self.process.pid}/task").iterdir()
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9

    def check(self):
        """Ends the script if a response is not what the backends' bodies make."""
        paths = [f"/{kind}/{size}" for kind in ("one", "proxy") for size in SIZES]
        if self.name != "haproxy":
            paths += [f"/calls/{count}/{size}" for count in WIDTHS for size in SIZES] + ["/hang"]
        for path in paths:
            with self.get(path) as response:
                body = response.read()
            if json.loads(body) != expected(path):
                sys.exit(f"{self.name}: {path}: {body[:500]}")
        return len(paths)


class World:
    """A folder, the backends in it, and the commands of the gateways that call them.

    - only: the names of the gateways; None means all that are installed
    - patience: how many seconds a measurement may be repeated and wait because of other programs
    """

    def __init__(self, folder, binary, processors, only=None, patience=0):
        self.folder, self.processors, self.patience = folder, processors, patience
        self.descriptors = raise_descriptor_limit()
        self.binary = binary
        # The tool that runs the programs, with its options.
        self.launcher = []
        self.floor = compile_floor(HERE / "floor.c", folder, "-luv")
        self.backends = Backends(folder, processors)
        self.names = [name for name in NAMES if self.is_installed(name) and (only is None or name in only)]

    def is_installed(self, name):
        return {
            "floor": True, "tributary": True, "nginx-lua": bool(lua_modules()),
            "haproxy": shutil.which("haproxy") is not None, "node": shutil.which("node") is not None}[name]

    def command(self, name, port, settings):
        ports = [str(port), str(self.backends.hanging), *map(str, self.backends.ports)]
        if name == "floor":
            return [self.floor, *ports]
        if name == "node":
            return ["node", str(HERE / "gateway.js"), *ports]
        if name == "nginx-lua":
            return ["nginx", "-p", str(self.folder), "-c", self.nginx_lua(port)]
        if name == "haproxy":
            path = self.folder / "haproxy.cfg"
            path.write_text(HAPROXY.format(port=port, first=self.backends.ports[0]))
            return ["haproxy", "-db", "-f", str(path)]
        path = self.folder / f"{name}.yaml"
        path.write_text(tributary_config(port, self.backends, **settings))
        return [self.binary, "serve", str(path)]

    def nginx_lua(self, port):
        upstreams = "".join(
            f"  upstream b{number} {{ server 127.0.0.1:{at}; keepalive 1024; keepalive_requests 1000000000; }}\n"
            for number, at in enumerate(self.backends.ports, 1))
        internal = "".join(
            f"    location /to/{number}/ {{ internal; proxy_pass http://b{number}/; }}\n" for number in range(1, BACKENDS + 1))
        rest = NGINX_LUA.format(port=port, hanging=self.backends.hanging, upstreams=upstreams, internal=internal)
        # nginx allocates memory for each of them at its start.
        return nginx(self.folder, "nginx-lua", rest, 12000, lua_modules())
