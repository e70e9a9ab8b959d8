import Assembly
import Basics
import HTTP
import JSONText

/// The body of an export in OTLP's JSON format: `ExportTraceServiceRequest`.
struct OTLPRequest {
    /// Where the spans come from.
    struct Resource {
        let service: String
        let version: String
        /// Identifies this process.
        let instance: String
    }

    let resource: Resource

    /// The conventions that names and attributes follow.
    private static let schema: StaticString = "https://opentelemetry.io/schemas/1.37.0"

    func body(of requests: [TracedRequest], _ entropy: Entropy) -> Bytes {
        var json: [UInt8] = []
        json.reserveCapacity(requests.reduce(1_024) { $0 + $1.spanCount * 768 })
        json.append(literal: "{\"resourceSpans\":[{\"resource\":{")
        json.append(list: "attributes") { list in
            list.append(attribute: "service.name", resource.service)
            list.append(attribute: "service.version", resource.version)
            list.append(attribute: "service.instance.id", resource.instance)
        }
        json.append(literal: "},\"scopeSpans\":[{\"scope\":{\"name\":\"tributary\",\"version\":")
        json.append(jsonString: resource.version)
        json.append(literal: "}")
        json.append(list: "spans") { list in
            for request in requests { RequestSpans(request, entropy).append(to: &list) }
        }
        json.append(literal: ",\"schemaUrl\":\"")
        json.append(literal: Self.schema)
        json.append(literal: "\"}],\"schemaUrl\":\"")
        json.append(literal: Self.schema)
        json.append(literal: "\"}]}")
        return Bytes(json)
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
