/// What a scalar is under the core schema of YAML 1.2 (section 10.3.2).
///
/// `yes`, `no`, `on` and `off` are strings; so is everything that was quoted. JSON's scalars have
/// the same types, because its literals are a part of this schema.
package enum ScalarType: Sendable, Equatable {
    case null
    case bool(Bool)
    /// A whole number; nil if it does not fit into 64 bits.
    case integer(Int?)
    /// A number with a fraction, an exponent, or `.inf` and `.nan`.
    case decimal
    case string
}

extension DocumentNode.Scalar {
    package var type: ScalarType {
        guard isPlain else { return .string }
        switch text {
        case "", "~", "null", "Null", "NULL": return .null
        case "true", "True", "TRUE": return .bool(true)
        case "false", "False", "FALSE": return .bool(false)
        case ".nan", ".NaN", ".NAN": return .decimal
        default: return numberType
        }
    }

    private var numberType: ScalarType {
        if text.hasPrefix("0x") { return integerType(digits: text.dropFirst(2), radix: 16) }
        if text.hasPrefix("0o") { return integerType(digits: text.dropFirst(2), radix: 8) }
        let unsigned = text.drop(atMostOne: "+-")
        if [".inf", ".Inf", ".INF"].contains(String(unsigned)) { return .decimal }
        if unsigned.isDigits { return .integer(Int(text.hasPrefix("+") ? unsigned : text[...])) }
        return unsigned.isDecimal ? .decimal : .string
    }

    private func integerType(digits: Substring, radix: Int) -> ScalarType {
        let isAllDigits =
            !digits.isEmpty && digits.utf8.allSatisfy { isDigit($0, radix: radix) }
        return isAllDigits ? .integer(Int(digits, radix: radix)) : .string
    }

    private func isDigit(_ byte: UInt8, radix: Int) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "7"): true
        case UInt8(ascii: "8")...UInt8(ascii: "9"): radix == 16
        case UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"):
            radix == 16
        default: false
        }
    }
}

extension StringProtocol {
    fileprivate var isDigits: Bool {
        !isEmpty && utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }

    fileprivate func drop(atMostOne signs: String) -> SubSequence {
        first.map { signs.contains($0) } == true ? dropFirst() : self[...]
    }

    /// `(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`, without a sign.
    fileprivate var isDecimal: Bool {
        let halves = split(maxSplits: 1, omittingEmptySubsequences: false) { "eE".contains($0) }
        if halves.count == 2, !halves[1].drop(atMostOne: "+-").isDigits { return false }
        let parts = halves[0].split(
            separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        switch parts.count {
        case 1: return parts[0].isDigits
        default:
            let (whole, fraction) = (parts[0], parts[1])
            return whole.isEmpty
                ? fraction.isDigits : whole.isDigits && (fraction.isEmpty || fraction.isDigits)
        }
    }
}
