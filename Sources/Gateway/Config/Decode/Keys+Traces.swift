import YAMLReader

/// The keys of `traces`.
extension Config.Traces: PlainBlock {
    static let keys: [BlockKey<Self>] = [
        .value(
            "otlp", \.otlp, .backendURL, isRequired: true,
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
