package import YAMLReader

extension Config {
    /// `traces:`, the collector that receives the spans of requests.
    package struct Traces: Sendable {
        package let location: SourceLocation
        /// The complete URL of the collector's OTLP/HTTP receiver for traces.
        package var otlp: Located<BackendURL>?
        /// The share of sampled requests, in millionths.
        package var sample: Located<Int>?
        package var slow: Located<Duration>?
        package var service: Located<String>?
        /// Sent with every export.
        package var headers: [Header] = []
        package var tls: Backend.TLS?
        package var encoding: Located<Encoding>?
        /// Attributes of the resource.
        package var resource: [Header] = []
        /// Of one export, from a variable.
        package var timeout: Duration?
        /// By a variable: nothing is exported or sampled.
        package var isDisabled = false

        /// The values of `OTEL_EXPORTER_OTLP_PROTOCOL`.
        package enum Encoding: String, Sendable, CaseIterable {
            case protobuf = "http/protobuf"
            case json = "http/json"
        }

        init(location: SourceLocation) {
            self.location = location
        }

        package var secureHost: Located<BackendURL>? {
            otlp.flatMap { $0.value.scheme == .https ? $0 : nil }
        }

        /// Whether the collector's certificate is verified with the system's trusted CAs.
        var needsSystemTrust: Bool { secureHost != nil && tls.needsSystemTrust }
    }
}

enum TracesKeys {
    static let root: [BlockKey<Config>] = [
        .block("traces", \.traces, "traces: the collector that spans are sent to")
    ]
}

extension Config.Traces: PlainBlock {
    static let keys: [BlockKey<Self>] = [
        .value(
            "otlp", \.otlp, .backendURL,
            default: .description("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"),
            "URL of the collector's OTLP/HTTP receiver, e.g. http://collector:4318/v1/traces"),
        .value(
            "sample", \.sample, .millionths, default: .text("1%"),
            "share of the requests without traceparent that is sampled; 0% for none"),
        .value(
            "slow", \.slow, .duration, default: .time(PlanDefaults.traceSlow),
            "requests that take longer are always sampled, as failed and partial ones are"),
        .value(
            "service", \.service, .text, default: .text(PlanDefaults.traceService),
            "service.name of the spans"),
        .list("resource", \.resource, .resourceAttributes, "further attributes of the resource"),
        .value(
            "protocol", \.encoding, .choice,
            default: .text(Config.Traces.Encoding.protobuf.rawValue), "format of the exports"),
        .list("headers", \.headers, .fixedHeaders, "header fields that every export sends"),
        .block("tls", \.tls, "TLS settings of an https:// collector"),
    ]
}

extension ValueReader where Value == Int {
    /// `1%`, read as 10000; `0%` is allowed.
    static var millionths: ValueReader {
        .scalar(.shareOrZero, expected: "must be a share, such as 1%") { scalar throws(Refusal) in
            try Quantity(scalar.text, in: .share, allowsZero: true).amount
        }
    }
}

extension ValueReader where Value == [Config.Header] {
    static var resourceAttributes: ValueReader {
        .map(
            of: .text,
            checkingKey: { key throws(Refusal) in
                guard !key.isEmpty else { throw Refusal("must have names of attributes") }
            }
        ) { name, value in
            Config.Header(name: name, value: value)
        }
    }
}
