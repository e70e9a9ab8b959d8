import Assembly
import Basics
import Gateway
import HTTP

/// The body of an export: `ExportTraceServiceRequest`.
struct OTLPRequest {
    /// Where the spans come from.
    struct Resource {
        /// Of this program.
        let version: String
        let attributes: [OTLPAttribute]

        /// - Parameters:
        ///   - instance: identifies this process
        ///   - configured: further attributes, which replace the own ones
        init(
            service: String, version: String, instance: String,
            configured: [TracePlan.ResourceAttribute] = []
        ) {
            self.version = version
            let own = [
                ("service.name", service), ("service.version", version),
                ("service.instance.id", instance),
            ]
            var attributes: [OTLPAttribute] = []
            for (key, value) in own where !configured.contains(where: { $0.key == key }) {
                attributes.append(attribute: key, value)
            }
            for (key, value) in configured { attributes.append(attribute: key, value) }
            self.attributes = attributes
        }
    }

    let resource: Resource
    var encoding = Config.Traces.Encoding.json

    /// The conventions that names and attributes follow.
    static let schema: StaticString = "https://opentelemetry.io/schemas/1.37.0"

    func body(of requests: [TracedRequest], _ entropy: Entropy) -> Bytes {
        var spans: [OTLPSpan] = []
        for request in requests { RequestSpans(request, entropy).append(to: &spans) }
        return Bytes(encoding == .protobuf ? protobuf(of: spans) : json(of: spans))
    }
}

extension Config.Traces.Encoding {
    var contentType: FieldValue {
        switch self {
        case .protobuf: "application/x-protobuf"
        case .json: "application/json"
        }
    }
}

extension Entropy {
    /// A random UUID (RFC 9562, version 4) as text.
    func nextUUID() -> String {
        var digits: [UInt8] = []
        digits.append(hex: next() & 0xFFFF_FFFF_FFFF_0FFF | 0x4000)
        digits.append(hex: next() & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000)
        let text = String(Bytes(digits))
        var parts: [Substring] = []
        var rest = text[...]
        for count in [8, 4, 4, 4, 12] {
            parts.append(rest.prefix(count))
            rest = rest.dropFirst(count)
        }
        return parts.joined(separator: "-")
    }
}
