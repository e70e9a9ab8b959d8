import YAMLReader

/// Converts an OTLP/HTTP exporter of KrakenD's `telemetry/opentelemetry` to `traces`.
struct KrakenDTraces {
    static let extra = "telemetry/opentelemetry"

    /// Nil without an exporter that has an equivalent.
    private(set) var tree: YAMLTree?

    init(_ root: DocumentNode, _ findings: inout ImportFindings) {
        guard let member = root["extra_config"]?.members.last(where: { $0.key == Self.extra })
        else {
            return
        }
        let settings = member.node
        let exporters = settings["exporters"]?["otlp"]?.elements.filter {
            $0["disable_traces"]?.flag != true
        }
        guard let exporters, !exporters.isEmpty else {
            findings.note(
                at: member.keyLocation,
                "'\(member.key)' is left out: the admin address has /metrics; 'traces' exports spans"
            )
            return
        }
        guard let exporter = exporters.first(where: { $0["use_http"]?.flag == true }),
            let host = exporter["host"]?.text, !host.isEmpty
        else {
            findings.warning(
                at: member.keyLocation,
                "'\(member.key)' is left out: spans are exported over OTLP/HTTP, not OTLP/gRPC; write"
                    + " 'traces' with the collector's HTTP port")
            return
        }
        var members: [(String, YAMLTree)] = [
            ("otlp", .text("http://\(host):\(exporter["port"]?.integer ?? 4318)/v1/traces"))
        ]
        let share = settings["trace_sample_rate"]?.number.flatMap(Double.init) ?? 1
        members.append(("sample", .text(Self.percent(of: min(max(share, 0), 1)))))
        if let name = settings["service_name"]?.text, !name.isEmpty {
            members.append(("service", .text(name)))
        }
        tree = .located(.inline(members), member.keyLocation)
        findings.note(
            at: member.keyLocation,
            "'\(member.key)' became 'traces', with the gateway's own spans; the admin address has"
                + " /metrics")
    }

    private static func percent(of share: Double) -> String {
        let tenths = Int((share * 1000).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10)%" : "\(tenths / 10).\(tenths % 10)%"
    }
}
