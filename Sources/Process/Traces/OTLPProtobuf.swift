import Basics
import HTTP

/// Writing OTLP as Protocol Buffers. The numbers of the fields come from
/// `opentelemetry/proto/collector/trace/v1/trace_service.proto` and the files that it imports.
extension OTLPRequest {
    /// `ExportTraceServiceRequest`
    func protobuf(of spans: [OTLPSpan]) -> [UInt8] {
        var request = ProtobufWriter()
        request.write(1) { resourceSpans in
            resourceSpans.write(1) { resourceMessage in
                for attribute in resource.attributes { resourceMessage.write(1, attribute) }
            }
            resourceSpans.write(2) { scopeSpans in
                scopeSpans.write(1) { scope in
                    scope.write(1, "tributary")
                    scope.write(2, resource.version)
                }
                for span in spans { scopeSpans.write(2, span) }
                scopeSpans.write(3, "\(Self.schema)")
            }
            resourceSpans.write(3, "\(Self.schema)")
        }
        return request.bytes
    }
}

extension ProtobufWriter {
    fileprivate mutating func write(_ field: Int, _ span: OTLPSpan) {
        write(field) { message in
            message.write(1, bigEndian: span.trace.traceHigh, span.trace.traceLow)
            message.write(2, bigEndian: span.id)
            if let state = span.trace.state { message.write(3, String(state.text)) }
            if span.parentID != 0 { message.write(4, bigEndian: span.parentID) }
            message.write(5, span.name)
            message.write(6, varint: UInt64(span.kind.rawValue))
            message.write(7, fixed: UInt64(max(0, span.began)))
            message.write(8, fixed: UInt64(max(0, span.began, span.ended)))
            for attribute in span.attributes { message.write(9, attribute) }
            for event in span.events {
                message.write(11) {
                    $0.write(1, fixed: UInt64(max(0, event.time)))
                    $0.write(2, event.name)
                }
            }
            if span.isError {
                message.write(15) { status in
                    if let problem = span.problem { status.write(2, String(problem)) }
                    status.write(3, varint: 2)
                }
            }
            message.write(16, fixed: UInt32(span.flags))
        }
    }

    fileprivate mutating func write(_ field: Int, _ attribute: OTLPAttribute) {
        write(field) { message in
            message.write(1, attribute.key)
            message.write(2) { value in
                switch attribute.value {
                case .text(let text): value.write(1, text)
                case .flag(let flag): value.write(2, varint: flag ? 1 : 0)
                case .number(let number): value.write(3, varint: UInt64(number))
                }
            }
        }
    }
}
