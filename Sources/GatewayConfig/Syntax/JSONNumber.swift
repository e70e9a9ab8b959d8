package import YAMLReader

/// Numbers of YAML as numbers of JSON.
package enum JSONNumber {
    /// The number spelled as it was written if JSON has that spelling, else the same number; nil for
    /// what JSON cannot say.
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
