import Basics
import Rehearsal

/// Health checks are sent no more often than configured, contain nothing of a client's request, and end
/// with their configuration. That another one follows each is an assertion of the backend.
struct ProbesCheck {
    let record: RunRecord
    let violations: ViolationLog

    func check() {
        for probe in record.probes {
            for fault in faults(of: probe) {
                violations.add(.hosts, nil, "\(fault): \(probe.message.startLine)")
            }
        }
        for config in record.configs {
            for (index, backend) in config.backends.enumerated() {
                guard let health = backend.health else { continue }
                for worker in record.workers {
                    for host in backend.hosts.indices {
                        let series = CheckSeries(
                            record: record, config: config, backend: index, host: host,
                            worker: worker,
                            every: .milliseconds(health.every))
                        if let fault = series.fault { violations.add(.hosts, nil, fault) }
                    }
                }
            }
        }
    }

    private func faults(of probe: ProbeRecord) -> [String] {
        let message = probe.message
        var faults: [String] = []
        if probe.reusesSpoiledConnection {
            faults.append("a check on a connection with unsolicited data")
        }
        guard record.configs.indices.contains(probe.generation),
            let health = record.configs[probe.generation].backends[probe.backend].health
        else { return faults + ["a check of a backend without `health`"] }
        if message.startLine != "GET \(probe.target.prefix)\(health.path) HTTP/1.1" {
            faults.append("not the path of its health checks")
        }
        let backend = record.configs[probe.generation].backends[probe.backend]
        if let objection = backend.objection(to: probe.session, probe.host) {
            faults.append(objection)
        }
        if message["X-Backend"] != backend.header {
            faults.append("without the headers of its backend")
        }
        if !message.body.isEmpty { faults.append("a check with a body") }
        for name in ["X-Request-Id", "X-Secret", "X-User", "traceparent", "Gateway-Deadline-Ms"]
        where message[name] != nil {
            faults.append("a check with \(name)")
        }
        return faults
    }
}

/// The checks of one host by one worker under one configuration.
private struct CheckSeries {
    let record: RunRecord
    let config: DrawnConfig
    let backend: Int
    let host: Int
    let worker: WorkerRecord
    let every: Duration

    private var probes: [ProbeRecord] {
        record.probes.filter {
            $0.backend == backend && $0.host == host && $0.worker == worker.name
                && $0.generation == config.generation
        }
        .sorted { $0.sent < $1.sent }
    }

    /// When the worker installed a configuration; nil if it never did.
    private func installation(of generation: Int) -> Instant? {
        if generation == 0 { return record.began }
        return generation <= worker.installations.count ? worker.installations[generation - 1] : nil
    }

    var fault: String? {
        let name = "b\(backend) host \(host) by \(worker.name)"
        guard let begins = installation(of: config.generation) else {
            return probes.isEmpty
                ? nil : "\(name): checks of a configuration that was not installed"
        }
        let ends = installation(of: config.generation + 1) ?? worker.ended ?? record.ended
        var count = 0
        for probe in probes {
            if probe.sent < begins + every * count { return "\(name): checked too often" }
            if probe.sent > ends { return "\(name): checked after its configuration was replaced" }
            // A check whose connection was found to be dead is sent again.
            if !probe.mayBeResent, probe.http2 == nil || !record.mayLosePongs { count += 1 }
        }
        return nil
    }
}
