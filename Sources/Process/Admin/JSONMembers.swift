import Basics
import JSONText

/// Members of JSON objects with numbers, times and lists.
extension [UInt8] {
    /// Appends a key that needs no escaping, and a comma before it if a member precedes it.
    mutating func append(key: StaticString) {
        appendJSONComma()
        append(UInt8(ascii: "\""))
        append(literal: key)
        append(literal: "\":")
    }

    /// Appends a member with a text that needs no escaping.
    mutating func append(_ key: StaticString, literal: StaticString) {
        append(key: key)
        append(UInt8(ascii: "\""))
        append(literal: literal)
        append(UInt8(ascii: "\""))
    }

    /// Appends a member with a whole number.
    mutating func append(_ key: StaticString, _ value: Int) {
        append(key: key)
        if value < 0 { append(UInt8(ascii: "-")) }
        append(decimal: value.magnitude)
    }

    /// Appends a member with a text.
    mutating func append(_ key: StaticString, text: String) {
        append(key: key)
        append(jsonString: text)
    }

    /// Appends a member that is true or false.
    mutating func append(_ key: StaticString, flag: Bool) {
        append(key: key)
        append(literal: flag ? "true" : "false")
    }

    /// Appends a member with a time in milliseconds, to the microsecond; nothing for nil.
    mutating func append(_ key: StaticString, microseconds: Int?) {
        if let microseconds { append(key, thousandths: microseconds) }
    }

    /// Appends a member with a number that has up to three decimals.
    mutating func append(_ key: StaticString, thousandths: Int) {
        append(key: key)
        let (whole, rest) = Swift.max(0, thousandths).quotientAndRemainder(dividingBy: 1_000)
        append(decimal: UInt(whole))
        guard rest > 0 else { return }
        append(UInt8(ascii: "."))
        if rest < 100 { append(UInt8(ascii: "0")) }
        if rest < 10 { append(UInt8(ascii: "0")) }
        append(decimal: UInt(rest))
    }

    /// Appends a member with a list.
    mutating func append<Elements: Sequence>(
        _ key: StaticString, list: Elements, _ element: (inout [UInt8], Elements.Element) -> Void
    ) {
        append(key: key)
        append(UInt8(ascii: "["))
        for value in list {
            appendJSONComma()
            element(&self, value)
        }
        append(UInt8(ascii: "]"))
    }

    /// Appends an object.
    mutating func appendObject(_ members: (inout [UInt8]) -> Void) {
        append(UInt8(ascii: "{"))
        members(&self)
        append(UInt8(ascii: "}"))
    }

    /// Appends a member with the numbers of workers that did not answer in time.
    mutating func append(missingWorkers: [Int]) {
        append("missing_workers", list: missingWorkers) { $0.append(decimal: $1.magnitude) }
    }
}
