import Basics
import HTTP
import JSONText

/// Writing OTLP in its JSON format: proto3's JSON with ids in hexadecimal digits, and 64-bit numbers as
/// strings.
extension OTLPRequest {
    /// `ExportTraceServiceRequest`
    func json(of spans: [OTLPSpan]) -> [UInt8] {
        var json: [UInt8] = []
        json.reserveCapacity(1_024 + spans.count * 768)
        json.append(literal: "{\"resourceSpans\":[{\"resource\":{")
        json.append(list: "attributes") { list in
            for attribute in resource.attributes { list.append(attribute) }
        }
        json.append(literal: "},\"scopeSpans\":[{\"scope\":{\"name\":\"tributary\",\"version\":")
        json.append(jsonString: resource.version)
        json.append(literal: "}")
        json.append(list: "spans") { list in
            for span in spans { list.append(span) }
        }
        json.append(literal: ",\"schemaUrl\":\"")
        json.append(literal: Self.schema)
        json.append(literal: "\"}],\"schemaUrl\":\"")
        json.append(literal: Self.schema)
        json.append(literal: "\"}]}")
        return json
    }
}

extension [UInt8] {
    fileprivate mutating func append(_ span: OTLPSpan) {
        append(entry: { entry in
            entry.append(member: "traceId", id: span.trace.traceHigh, span.trace.traceLow)
            entry.append(member: "spanId", id: span.id)
            if let state = span.trace.state {
                entry.append(member: "traceState", String(state.text))
            }
            if span.parentID != 0 { entry.append(member: "parentSpanId", id: span.parentID) }
            entry.append(member: "flags", span.flags)
            entry.append(member: "name", span.name)
            entry.append(member: "kind", span.kind.rawValue)
            entry.append(member: "startTimeUnixNano", time: span.began)
            entry.append(member: "endTimeUnixNano", time: Swift.max(span.began, span.ended))
            entry.append(list: "attributes") { list in
                for attribute in span.attributes { list.append(attribute) }
            }
            entry.append(list: "events") { list in
                for event in span.events {
                    list.append(entry: {
                        $0.append(member: "timeUnixNano", time: event.time)
                        $0.append(member: "name", event.name)
                    })
                }
            }
            guard span.isError else { return }
            entry.append(literal: ",\"status\":{\"code\":2")
            if let problem = span.problem { entry.append(member: "message", String(problem)) }
            entry.append(literal: "}")
        })
    }

    fileprivate mutating func append(_ attribute: OTLPAttribute) {
        append(entry: { entry in
            entry.append(member: "key", attribute.key)
            entry.append(literal: ",\"value\":{")
            switch attribute.value {
            case .text(let text):
                entry.append(literal: "\"stringValue\":")
                entry.append(jsonString: text)
            case .number(let number):
                entry.append(literal: "\"intValue\":\"")
                entry.append(decimal: UInt64(number))
                entry.append(UInt8(ascii: "\""))
            case .flag(let flag):
                entry.append(literal: flag ? "\"boolValue\":true" : "\"boolValue\":false")
            }
            entry.append(UInt8(ascii: "}"))
        })
    }

    /// Appends the key of a member, and a comma before it if a member precedes it.
    private mutating func append(member key: StaticString) {
        appendJSONComma()
        append(UInt8(ascii: "\""))
        append(literal: key)
        append(literal: "\":")
    }

    private mutating func append(member key: StaticString, _ value: Int) {
        append(member: key)
        append(decimal: UInt64(Swift.max(0, value)))
    }

    private mutating func append(member key: StaticString, _ value: String) {
        append(member: key)
        append(jsonString: value)
    }

    /// Nanoseconds since 1970.
    private mutating func append(member key: StaticString, time: Int64) {
        append(member: key)
        append(UInt8(ascii: "\""))
        append(decimal: UInt64(Swift.max(0, time)))
        append(UInt8(ascii: "\""))
    }

    private mutating func append(member key: StaticString, id parts: UInt64...) {
        append(member: key)
        append(UInt8(ascii: "\""))
        for part in parts { append(hex: part) }
        append(UInt8(ascii: "\""))
    }

    /// Appends a list; the closure writes its entries.
    fileprivate mutating func append(list key: StaticString, _ entries: (inout [UInt8]) -> Void) {
        append(member: key)
        append(UInt8(ascii: "["))
        entries(&self)
        append(UInt8(ascii: "]"))
    }

    /// Appends an object to a list; the closure writes its members.
    private mutating func append(entry members: (inout [UInt8]) -> Void) {
        appendJSONComma()
        append(UInt8(ascii: "{"))
        members(&self)
        append(UInt8(ascii: "}"))
    }
}
