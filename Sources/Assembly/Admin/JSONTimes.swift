import Basics
import JSONText

/// Members of JSON objects with numbers, times and lists.
extension [UInt8] {
    /// Appends a member with a whole number.
    mutating func append(_ key: String, _ value: Int) {
        append(jsonKey: key)
        if value < 0 { append(UInt8(ascii: "-")) }
        append(decimal: value.magnitude)
    }

    /// Appends a member with a text.
    mutating func append(_ key: String, text: String) {
        append(jsonKey: key)
        append(jsonString: text)
    }

    /// Appends a member that is true or false.
    mutating func append(_ key: String, flag: Bool) {
        append(jsonKey: key)
        append(literal: flag ? "true" : "false")
    }

    /// Appends a member with a time in milliseconds, to the microsecond; nothing for nil.
    mutating func append(_ key: String, microseconds: Int?) {
        guard let microseconds else { return }
        append(jsonKey: key)
        let (whole, rest) = Swift.max(0, microseconds).quotientAndRemainder(dividingBy: 1_000)
        append(decimal: UInt(whole))
        guard rest > 0 else { return }
        append(UInt8(ascii: "."))
        if rest < 100 { append(UInt8(ascii: "0")) }
        if rest < 10 { append(UInt8(ascii: "0")) }
        append(decimal: UInt(rest))
    }

    /// Appends a member with a list.
    mutating func append<Elements: Sequence>(
        _ key: String, list: Elements, _ element: (inout [UInt8], Elements.Element) -> Void
    ) {
        append(jsonKey: key)
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
