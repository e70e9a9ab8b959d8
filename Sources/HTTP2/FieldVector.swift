import CNGHTTP2
import HTTP

/// The fields of a head in the form in which nghttp2 takes them: pointers into memory that the
/// caller keeps during the call. Owned by a session, which reuses its memory.
struct FieldVector {
    private var vector: [nghttp2_nv] = []

    mutating func removeAll() { vector.removeAll(keepingCapacity: true) }

    /// Appends a pseudo field.
    mutating func append(_ name: StaticString, _ value: UnsafeBufferPointer<UInt8>) {
        vector.append(
            nghttp2_nv(
                name: UnsafeMutablePointer(mutating: name.utf8Start),
                value: UnsafeMutablePointer(mutating: value.baseAddress ?? name.utf8Start),
                namelen: name.utf8CodeUnitCount, valuelen: value.count,
                flags: UInt8(NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue)))
    }

    /// Appends field lines in the format of `Fields`.
    ///
    /// - Parameter memory: the bytes of `lines`
    mutating func append(lines: Span<UInt8>, in memory: UnsafeBufferPointer<UInt8>) {
        guard let start = memory.baseAddress else { return }
        var reader = FieldLines(from: 0)
        while let line = reader.nextLine(in: lines) {
            let name = lines.extracting(line.name)
            vector.append(
                nghttp2_nv(
                    name: UnsafeMutablePointer(mutating: start + line.name.lowerBound),
                    value: UnsafeMutablePointer(mutating: start + line.value.lowerBound),
                    namelen: line.name.count, valuelen: line.value.count,
                    flags: Self.isUnique(name) ? UInt8(NGHTTP2_NV_FLAG_NO_INDEX.rawValue) : 0))
        }
    }

    /// A field whose value is different each time would only evict others from the table.
    private static func isUnique(_ name: Span<UInt8>) -> Bool {
        switch name.count {
        case 11: name.equalsIgnoringCase("traceparent")
        case 12: name.equalsIgnoringCase("x-request-id")
        case 19: name.equalsIgnoringCase("gateway-deadline-ms")
        default: false
        }
    }

    /// Calls `body` with the fields.
    func withFields<Result>(_ body: (UnsafePointer<nghttp2_nv>?, Int) -> Result) -> Result {
        vector.withUnsafeBufferPointer { body($0.baseAddress, $0.count) }
    }
}
