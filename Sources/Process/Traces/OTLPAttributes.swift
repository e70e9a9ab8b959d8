import Basics
import HTTP
import JSONText

/// Writing values of OTLP in its JSON format: proto3's JSON with ids in hexadecimal digits, and 64-bit
/// numbers as strings.
extension [UInt8] {
    /// Appends the key of a member, and a comma before it if a member precedes it.
    mutating func append(member key: StaticString) {
        appendJSONComma()
        append(UInt8(ascii: "\""))
        append(literal: key)
        append(literal: "\":")
    }

    mutating func append(member key: StaticString, _ value: Int) {
        append(member: key)
        append(decimal: UInt64(Swift.max(0, value)))
    }

    mutating func append(member key: StaticString, _ value: String) {
        append(member: key)
        append(jsonString: value)
    }

    /// Nanoseconds since 1970.
    mutating func append(member key: StaticString, time: Int64) {
        append(member: key)
        append(UInt8(ascii: "\""))
        append(decimal: UInt64(Swift.max(0, time)))
        append(UInt8(ascii: "\""))
    }

    mutating func append(member key: StaticString, id parts: UInt64...) {
        append(member: key)
        append(UInt8(ascii: "\""))
        for part in parts { append(hex: part) }
        append(UInt8(ascii: "\""))
    }

    /// Appends a list; the closure writes its entries.
    mutating func append(list key: StaticString, _ entries: (inout [UInt8]) -> Void) {
        append(member: key)
        append(UInt8(ascii: "["))
        entries(&self)
        append(UInt8(ascii: "]"))
    }

    /// Appends an object to a list; the closure writes its members.
    mutating func append(entry members: (inout [UInt8]) -> Void) {
        appendJSONComma()
        append(UInt8(ascii: "{"))
        members(&self)
        append(UInt8(ascii: "}"))
    }

    // MARK: Attributes

    mutating func append(attribute key: StaticString, _ value: String) {
        append(attribute: key, "{\"stringValue\":") { $0.append(jsonString: value) }
    }

    mutating func append(attribute key: StaticString, _ value: StaticString) {
        append(attribute: key, "{\"stringValue\":\"") { text in
            text.append(literal: value)
            text.append(UInt8(ascii: "\""))
        }
    }

    mutating func append(attribute key: StaticString, _ value: Int) {
        append(attribute: key, "{\"intValue\":\"") { text in
            text.append(decimal: UInt64(Swift.max(0, value)))
            text.append(UInt8(ascii: "\""))
        }
    }

    mutating func append(attribute key: StaticString, _ value: Bool) {
        append(attribute: key, "{\"boolValue\":") { $0.append(literal: value ? "true" : "false") }
    }

    private mutating func append(
        attribute key: StaticString, _ begin: StaticString, _ value: (inout [UInt8]) -> Void
    ) {
        append(entry: { entry in
            entry.append(literal: "\"key\":\"")
            entry.append(literal: key)
            entry.append(literal: "\",\"value\":")
            entry.append(literal: begin)
            value(&entry)
            entry.append(UInt8(ascii: "}"))
        })
    }
}
