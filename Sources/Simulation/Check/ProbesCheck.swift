import Basics
import Rehearsal

/// Hosts are asked how they are as often as the configuration says, with nothing of a client's request,
/// and not once more when nobody wants to know.
struct ProbesCheck {
    let record: RunRecord
    let violations: ViolationLog

    func run() {
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
                        let series = Series(
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
        if probe.isReckless { faults.append("a check where the backend had spoken unasked") }
        guard record.configs.indices.contains(probe.generation),
            let health = record.configs[probe.generation].backends[probe.backend].health
        else { return faults + ["a check that nobody asked for"] }
        if message.startLine != "GET \(probe.served.prefix)\(health.path) HTTP/1.1" {
            faults.append("not the path of its checks")
        }
        let backend = record.configs[probe.generation].backends[probe.backend]
        if let objection = backend.objection(to: probe.session, probe.host) {
            faults.append(objection)
        }
        if message["X-Backend"] != backend.header { faults.append("not its backend's headers") }
        if !message.body.isEmpty { faults.append("a check with a body") }
        for name in ["X-Request-Id", "X-Secret", "X-User", "traceparent", "Gateway-Deadline-Ms"]
        where message[name] != nil {
            faults.append("a check with \(name)")
        }
        return faults
    }
}

/// The checks of one host, by one core, for one configuration.
private struct Series {
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

    /// When its configuration came to this core; nil if it never did.
    private func beginning(of generation: Int) -> Instant? {
        if generation == 0 { return record.began }
        return generation <= worker.installations.count ? worker.installations[generation - 1] : nil
    }

    var fault: String? {
        let name = "b\(backend) host \(host) by \(worker.name)"
        guard let begins = beginning(of: config.generation) else {
            return probes.isEmpty ? nil : "\(name): checks of a configuration that never came"
        }
        let ends = beginning(of: config.generation + 1) ?? worker.ended ?? record.ended
        var asked = 0
        for probe in probes {
            if probe.sent < begins + every * asked { return "\(name): checked too often" }
            if probe.sent > ends { return "\(name): checked when nobody asks any more" }
            if !probe.mayBeResent { asked += 1 }
        }
        // What is on its way for a tenth of a second may have met the end.
        let least = (ends - begins - .milliseconds(100)).inNanoseconds / every.inNanoseconds
        return isCalm && probes.count < least
            ? "\(name): checked \(probes.count) times instead of \(least)" : nil
    }

    /// Nothing can have kept a check from its host.
    private var isCalm: Bool {
        let drawn = config.backends[backend].hosts[host]
        return !record.weather.hides([drawn]) && !record.isSlow && !record.speaksUnasked(backend)
            && worker.drains == nil
    }
}
