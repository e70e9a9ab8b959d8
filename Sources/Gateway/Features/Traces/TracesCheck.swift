import YAMLReader

extension ConfigCheck {
    /// The collector's URL, headers and TLS settings.
    mutating func checkTraces() {
        guard let traces = config.traces else { return }
        if traces.otlp == nil, !traces.isDisabled, isRead("otlp", of: traces.location) {
            problems.error(at: traces.location, "the key 'otlp' is missing in 'traces'")
        }
        if let otlp = traces.otlp, otlp.value.path.isEmpty {
            problems.warning(
                at: otlp.location,
                "'otlp' of 'traces' has no path; the receiver of a collector usually is /v1/traces")
        }
        checkDuplicates(in: traces.headers.map(\.name), of: "headers")
        for header in traces.headers where HeaderSyntax.describesMessage(header.name.value) {
            problems.error(
                at: header.name.location,
                "'headers' of 'traces' must not have '\(header.name.quoted)'; the gateway sets it"
                    + " itself")
        }
        // Names of attributes are case-sensitive, other than names of headers.
        checkDuplicates(in: traces.resource.map(\.name), of: "resource", ignoringCase: false)
        for attribute in traces.resource where attribute.name.value == "service.name" {
            problems.error(
                at: attribute.name.location,
                "'resource' of 'traces' must not have 'service.name'; write 'service'")
        }
        checkTLS(of: traces)
    }

    private mutating func checkTLS(of traces: Config.Traces) {
        checkTLS(
            TLSClient(
                title: "'traces'", tls: traces.tls, secureHost: traces.secureHost?.location,
                hasHosts: traces.otlp != nil, needsSystemTrust: traces.needsSystemTrust))
        guard traces.otlp?.value.scheme == .http, let header = traces.headers.first else { return }
        problems.warning(
            at: header.name.location,
            "'headers' of 'traces' are sent without encryption; use https:// for credentials")
    }
}
