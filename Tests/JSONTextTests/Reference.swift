/// A slow and simple implementation of RFC 8259, to compare the scanner with.
struct Reference {
    private var rest: ArraySlice<Unicode.Scalar>

    static func accepts(_ text: [UInt8]) -> Bool {
        guard let string = String(validating: text, as: UTF8.self) else { return false }
        var reference = Reference(rest: Array(string.unicodeScalars)[...])
        reference.space()
        guard reference.value() else { return false }
        reference.space()
        return reference.rest.isEmpty
    }

    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard rest.first == scalar else { return false }
        rest.removeFirst()
        return true
    }

    private mutating func take(_ word: String) -> Bool {
        for scalar in word.unicodeScalars where !take(scalar) { return false }
        return true
    }

    private mutating func space() {
        while take(" ") || take("\n") || take("\r") || take("\t") {}
    }

    private mutating func value() -> Bool {
        switch rest.first {
        case "{": list("{", "}") { $0.member() }
        case "[": list("[", "]") { $0.value() }
        case "\"": string()
        case "t": take("true")
        case "f": take("false")
        case "n": take("null")
        default: number()
        }
    }

    private mutating func list(
        _ open: Unicode.Scalar, _ close: Unicode.Scalar, _ part: (inout Reference) -> Bool
    ) -> Bool {
        guard take(open) else { return false }
        space()
        if take(close) { return true }
        repeat {
            space()
            guard part(&self) else { return false }
            space()
        } while take(",")
        return take(close)
    }

    private mutating func member() -> Bool {
        guard string() else { return false }
        space()
        guard take(":") else { return false }
        space()
        return value()
    }

    private mutating func string() -> Bool {
        guard take("\"") else { return false }
        while let scalar = rest.popFirst() {
            if scalar == "\"" { return true }
            if scalar.value < 0x20 { return false }
            if scalar == "\\" && !escape() { return false }
        }
        return false
    }

    private mutating func escape() -> Bool {
        guard let letter = rest.popFirst() else { return false }
        guard letter == "u" else { return "\"\\/bfnrt".unicodeScalars.contains(letter) }
        guard let unit = codeUnit(), !(0xDC00...0xDFFF).contains(unit) else { return false }
        guard (0xD800...0xDBFF).contains(unit) else { return true }
        guard take("\\"), take("u"), let low = codeUnit() else { return false }
        return (0xDC00...0xDFFF).contains(low)
    }

    private mutating func codeUnit() -> Int? {
        let digits = rest.prefix(4)
        rest = rest.dropFirst(4)
        guard digits.count == 4, digits.allSatisfy({ $0.properties.isASCIIHexDigit }) else {
            return nil
        }
        return Int(String(String.UnicodeScalarView(digits)), radix: 16)
    }

    private mutating func number() -> Bool {
        _ = take("-")
        if !take("0") {
            guard digits() else { return false }
        }
        if take(".") {
            guard digits() else { return false }
        }
        if take("e") || take("E") {
            _ = take("+") || take("-")
            guard digits() else { return false }
        }
        return true
    }

    private mutating func digits() -> Bool {
        var hasSome = false
        while let scalar = rest.first, ("0"..."9").contains(scalar) {
            rest.removeFirst()
            hasSome = true
        }
        return hasSome
    }
}
