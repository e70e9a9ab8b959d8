"""The gateway with its configurations: for its client side, for tunnels, and for its backends."""

from connection import Target
from harness import Gateway, certificate

LISTENERS = """\
version: 1
admin: 127.0.0.1:{admin}
workers: 1
log: {{ level: error }}
listen:
  - {{ address: "127.0.0.1:{listen}", protocols: [http2, http1] }}
  - address: 127.0.0.1:{secure}
    protocols: [http2, http1]
    tls: {{ cert: "{certificates}/cert.pem", key: "{certificates}/key.pem" }}
"""
CLIENTS = LISTENERS + """\
limits: {{ header_timeout: 3s, body_timeout: 3s, idle_timeout: 3s, buffered_bytes: 64MiB }}
defaults: {{ deadline: 60s, timeout: 60s, max_body: 1MiB }}
backends:
  recorder: {{ url: "http://127.0.0.1:{backend}" }}
endpoints:
  - route: GET /ok
    forward: {{ headers: [X-Probe, Cookie], query: all }}
    calls: {{ one: {{ from: recorder, get: /ok, required: true }} }}
  - {{ route: GET /empty, calls: {{ one: {{ from: recorder, get: /empty, required: true }} }} }}
  - {{ route: GET /large, calls: {{ one: {{ from: recorder, get: /large, required: true }} }} }}
  - {{ route: GET /slow, calls: {{ one: {{ from: recorder, get: /slow, required: true }} }} }}
  - route: POST /upload
    calls: {{ one: {{ from: recorder, post: /upload, body: "{{request.body}}", required: true }} }}
  - route: GET /values/{{id}}
    forward: {{ headers: [X-Probe], query: all }}
    calls: {{ one: {{ from: recorder, get: "/values/{{id}}", required: true }} }}
  - {{ route: ANY /relay/*, proxy: {{ to: recorder, path: /relay/* }} }}
"""
TUNNELS = LISTENERS + """\
backends:
  live: {{ url: "http://127.0.0.1:{backend}" }}
endpoints:
  - {{ route: GET /ok, calls: {{ one: {{ from: live, get: /ok, required: true }} }} }}
  - {{ route: GET /plain, proxy: live }}
  - {{ route: GET /live/*, proxy: {{ to: live, path: /*, upgrade: [websocket], timeout: 1s, idle_timeout: 2s }} }}
"""
BACKENDS = """\
version: 1
admin: 127.0.0.1:{admin}
workers: 1
log: {{ level: error }}
listen: 127.0.0.1:{listen}
defaults: {{ deadline: 20s, timeout: 2s, max_body: 1MiB, report: body }}
backends:
{backends}
endpoints:
{endpoints}
"""


def start_for_clients(binary, folder, backend, tls, name="clients"):
    """The gateway in front of a backend: its target, and the id of its process."""
    return start(binary, folder, CLIENTS, backend, tls, name)


def start_for_tunnels(binary, folder, backend, tls):
    """The gateway in front of a backend that switches protocols: its target."""
    return start(binary, folder, TUNNELS, backend, tls, "tunnels")[0]


def start(binary, folder, config, backend, tls, name):
    certificate(folder)
    gateway = Gateway(binary, folder, config, ports=["secure"], name=name, certificates=folder, backend=backend.port)
    return Target("127.0.0.1", gateway.ports["secure" if tls else "listen"], tls, backend), gateway.process.pid


def start_for_backends(binary, folder, cases):
    """The gateway in front of one backend for each case, whose ports are known."""
    backends = [f'  {case.key}: {{ url: "http://127.0.0.1:{case.port}", protocol: http2 }}' for case in cases]
    calls = [f"{{ from: {case.key}, {case.call}, required: true }}" for case in cases]
    endpoints = [
        f"  - {{ route: {case.route} /{case.key}, calls: {{ one: {call} }} }}" for case, call in zip(cases, calls)
    ]
    values = {"backends": "\n".join(backends), "endpoints": "\n".join(endpoints)}
    return Gateway(binary, folder, BACKENDS, name="backends", **values)
