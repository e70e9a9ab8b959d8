import HTTP
import HTTPClient
import Reactor
import TLS

// Compiles `traces`.
extension Planner {
    var traces: TracePlan? {
        get throws(PlanError) {
            guard let traces = config.traces, !traces.isDisabled, let located = traces.otlp else {
                return nil
            }
            let url = located.value
            guard let target = Target(url.path.isEmpty ? "/" : url.path) else {
                throw PlanError("\(located.location): not a request target")
            }
            var fields = Fields()
            for header in traces.headers {
                guard let value = FieldValue(header.value.value) else {
                    throw PlanError("\(header.value.location): not a header value")
                }
                fields.append(try fieldName(header.name), value)
            }
            return TracePlan(
                share: traces.sample?.value ?? PlanDefaults.traceShare,
                slow: traces.slow?.value ?? PlanDefaults.traceSlow,
                service: traces.service?.value ?? PlanDefaults.traceService,
                resource: traces.resource.map { ($0.name.value, $0.value.value) },
                collector: TracePlan.Collector(
                    origin: Origin(
                        host: url.host, port: url.port,
                        default: url.scheme == .https ? .https : .http),
                    target: target, fields: fields, security: try security(of: traces),
                    encoding: traces.encoding?.value ?? .protobuf,
                    timeout: traces.timeout ?? PlanDefaults.traceTimeout))
        }
    }

    private func security(of traces: Config.Traces) throws(PlanError) -> StreamSecurity? {
        guard traces.secureHost != nil else { return nil }
        do throws(TLSSettingsError) {
            return try contexts.context(
                for: try TLSSettings(traces.tls, systemTrust: config.systemTrust)
            ).security
        } catch {
            throw PlanError("\(traces.location): TLS settings that passed the check: \(error)")
        }
    }
}
