import Basics
import HTTP
import YAMLReader

/// The environment variables of OpenTelemetry that have a meaning for `traces` ("Environment Variable
/// Specification" and "OTLP Exporter Configuration"). The file takes precedence; an empty variable counts
/// as unset.
struct TraceVariables {
    private let environment: (String) -> String?

    init(_ environment: @escaping (String) -> String?) { self.environment = environment }

    private func value(_ name: String) -> Located<String>? {
        guard let text = environment(name), !text.isEmpty else { return nil }
        return Located(text, at: SourceLocation(file: name))
    }

    /// The value for traces, else the value for all signals.
    private func exporter(_ name: String) -> Located<String>? {
        value("OTEL_EXPORTER_OTLP_TRACES_\(name)") ?? value("OTEL_EXPORTER_OTLP_\(name)")
    }

    /// Adds what the file does not state.
    func complete(_ traces: inout Config.Traces?, _ problems: inout Problems) {
        let isDisabled = value("OTEL_SDK_DISABLED")?.value.lowercased() == "true"
        if isDisabled {
            traces?.isDisabled = true
            return
        }
        guard var block = traces ?? block(&problems) else { return }
        if block.otlp == nil { block.otlp = endpoint(&problems) }
        if block.headers.isEmpty { block.headers = headers(&problems) }
        if block.encoding == nil { block.encoding = encoding(&problems) }
        if block.sample == nil { block.sample = share(&problems) }
        let attributes = list(value("OTEL_RESOURCE_ATTRIBUTES"), &problems)
        if block.service == nil {
            block.service =
                value("OTEL_SERVICE_NAME")
                ?? attributes.last { $0.name.value == "service.name" }?.value
        }
        let written = Set(block.resource.map(\.name.value))
        block.resource += attributes.filter {
            !written.contains($0.name.value) && $0.name.value != "service.name"
        }
        block.timeout = timeout(&problems)
        traces = block
    }

    /// Without the block in the file, an endpoint switches the export on. Variables that the gateway
    /// cannot use, such as for an exporter of gRPC, keep it off: they may be meant for other programs.
    private func block(_ problems: inout Problems) -> Config.Traces? {
        guard let text = exporter("ENDPOINT"), value("OTEL_TRACES_EXPORTER")?.value != "none" else {
            return nil
        }
        guard endpoint(&problems) != nil else { return nil }
        if exporter("PROTOCOL") != nil,
            encoding(&problems, otherwise: "no traces are exported") == nil
        {
            return nil
        }
        return Config.Traces(location: text.location)
    }

    private func endpoint(_ problems: inout Problems) -> Located<Config.BackendURL>? {
        guard let text = exporter("ENDPOINT") else { return nil }
        var url = text.value
        if value("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") == nil {
            url = url.hasSuffix("/") ? url + "v1/traces" : url + "/v1/traces"
        }
        do throws(Refusal) {
            return Located(try Config.BackendURL(parsing: url), at: text.location)
        } catch {
            problems.warning(
                at: text.location, "the endpoint \(error.message); the variable is not used")
            return nil
        }
    }

    /// - Parameter consequence: of a protocol that is not supported
    private func encoding(
        _ problems: inout Problems, otherwise consequence: String = "http/protobuf is used"
    ) -> Located<Config.Traces.Encoding>? {
        guard let text = exporter("PROTOCOL") else { return nil }
        guard let encoding = Config.Traces.Encoding(rawValue: text.value) else {
            problems.warning(
                at: text.location,
                "only http/protobuf and http/json are supported; \(consequence)")
            return nil
        }
        return Located(encoding, at: text.location)
    }

    private func timeout(_ problems: inout Problems) -> Duration? {
        guard let text = exporter("TIMEOUT") else { return nil }
        guard let milliseconds = Int(text.value), (1...600_000).contains(milliseconds) else {
            problems.warning(
                at: text.location, "the timeout must be 1 to 600000 milliseconds; 10000 are used")
            return nil
        }
        return .milliseconds(milliseconds)
    }

    /// In millionths. The gateway always follows the decision of a caller, so only the samplers that do
    /// that, too, can be used.
    private func share(_ problems: inout Problems) -> Located<Int>? {
        guard let sampler = value("OTEL_TRACES_SAMPLER") else { return nil }
        switch sampler.value {
        case "parentbased_always_on": return Located(1_000_000, at: sampler.location)
        case "parentbased_always_off": return Located(0, at: sampler.location)
        case "parentbased_traceidratio":
            let text = value("OTEL_TRACES_SAMPLER_ARG")
            let share = text.map { Double($0.value) } ?? 1
            guard let share, (0...1).contains(share) else {
                problems.warning(
                    at: text?.location ?? sampler.location,
                    "the share must be a number from 0 to 1; 'sample' is used")
                return nil
            }
            return Located(Int((share * 1_000_000).rounded()), at: sampler.location)
        default:
            problems.warning(
                at: sampler.location,
                "the sampler must be parentbased_always_on, parentbased_always_off or"
                    + " parentbased_traceidratio; 'sample' is used")
            return nil
        }
    }

    private func headers(_ problems: inout Problems) -> [Config.Header] {
        let headers = list(exporter("HEADERS"), &problems)
        return headers.filter { header in
            do throws(Refusal) {
                try HeaderSyntax.check(name: header.name.value)
                try HeaderSyntax.check(value: header.value.value)
                return true
            } catch {
                problems.error(at: header.name.location, "a header \(error.message)")
                return false
            }
        }
    }

    /// `key=value,key=value`, percent-encoded as W3C Baggage has it.
    private func list(_ text: Located<String>?, _ problems: inout Problems) -> [Config.Header] {
        guard let text else { return [] }
        var entries: [Config.Header] = []
        for part in text.value.split(separator: ",") {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                .map { Bytes($0.trimmed).percentDecoded().map { String($0) } }
            guard pair.count == 2, let key = pair[0], let value = pair[1], !key.isEmpty else {
                problems.warning(at: text.location, "an entry is not key=value; it is left out")
                continue
            }
            // The last entry of a name counts.
            entries.removeAll { $0.name.value == key }
            entries.append(
                Config.Header(
                    name: Located(key, at: text.location), value: Located(value, at: text.location))
            )
        }
        return entries
    }
}

extension Substring {
    fileprivate var trimmed: Substring {
        var text = drop { $0 == " " }
        while text.last == " " { text.removeLast() }
        return text
    }
}
