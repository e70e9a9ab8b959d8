package import YAMLReader

/// Converts YAML numbers to JSON numbers.
package enum JSONNumber {
    /// The number with its original spelling if it is valid JSON, else in another spelling; nil if
    /// JSON cannot express it.
    package static func spelling(of text: String, type: ScalarType) -> String? {
        if case .integer(let value) = type, text.hasPrefix("0x") || text.hasPrefix("0o") {
            return value.map { String($0) }
        }
        let sign = text.hasPrefix("-") ? "-" : ""
        let unsigned = text.drop { $0 == "+" || $0 == "-" }
        let mantissa = unsigned.prefix { $0 != "e" && $0 != "E" }
        let exponent = unsigned.dropFirst(mantissa.count)
        let parts = mantissa.split(separator: ".", omittingEmptySubsequences: false)
        guard let first = parts.first, parts.allSatisfy({ $0.allSatisfy(\.isWholeNumber) }) else {
            return nil  // .inf and .nan
        }
        let whole = first.drop { $0 == "0" }
        let fraction = parts.count > 1 && !parts[1].isEmpty ? "." + parts[1] : ""
        return sign + (whole.isEmpty ? "0" : whole) + fraction + exponent
    }
}
