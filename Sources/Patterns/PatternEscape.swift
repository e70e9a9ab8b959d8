/// The meaning of an escape: one scalar, or a set of scalars.
enum PatternEscape {
    case scalar(Unicode.Scalar)
    case set(ScalarMembers)

    var members: ScalarMembers {
        switch self {
        case .scalar(let scalar): ScalarMembers(scalar)
        case .set(let members): members
        }
    }
}

extension PatternSource {
    /// Reads an escape after the backslash at `start`.
    mutating func escape(from start: Int) throws(PatternError) -> PatternEscape {
        guard let letter = next() else {
            throw PatternError(offset: start, reason: .incompleteEscape)
        }
        switch letter {
        case "d": return .set(.digits)
        case "D": return .set(ScalarMembers.digits.complement)
        case "w": return .set(.word)
        case "W": return .set(ScalarMembers.word.complement)
        case "s": return .set(.space)
        case "S": return .set(ScalarMembers.space.complement)
        case "p": return .set(ScalarMembers(categories: try category(from: start)))
        case "P": return .set(ScalarMembers(categories: try category(from: start).complement))
        case "t": return .scalar("\t")
        case "n": return .scalar("\n")
        case "r": return .scalar("\r")
        case "f": return .scalar("\u{0C}")
        case "v": return .scalar("\u{0B}")
        case "0":
            // Octal in other engines, NUL and a digit for some: a reader could mean either.
            if let digit = peek(ahead: 0), ("0"..."9").contains(digit) {
                throw PatternError(offset: start, reason: .octalEscape)
            }
            return .scalar("\0")
        case "x": return .scalar(try scalar(ofHexDigits: 2, from: start))
        case "u": return .scalar(try unicodeEscape(from: start))
        case "b", "B": throw PatternError(offset: start, reason: .wordBoundary)
        case "1"..."9", "k": throw PatternError(offset: start, reason: .backReference)
        case _ where letter.isASCII && !letter.properties.isAlphabetic: return .scalar(letter)
        default: throw PatternError(offset: start, reason: .unknownEscape)
        }
    }

    /// Reads the category of a `\p`, such as `{Lu}`.
    private mutating func category(from start: Int) throws(PatternError) -> ScalarCategories {
        var name = ""
        guard take("{") else { throw PatternError(offset: start, reason: .unknownCategory) }
        while let scalar = next(), scalar != "}" { name.unicodeScalars.append(scalar) }
        guard let categories = ScalarCategories(named: name) else {
            throw PatternError(offset: start, reason: .unknownCategory)
        }
        return categories
    }

    /// Reads `{1F600}`, four digits, or two times four digits for a surrogate pair.
    private mutating func unicodeEscape(from start: Int) throws(PatternError) -> Unicode.Scalar {
        if take("{") {
            var digits = 0
            while let digit = peek(ahead: digits), digit.properties.isASCIIHexDigit, digits < 6 {
                digits += 1
            }
            let scalar = try scalar(ofHexDigits: max(digits, 1), from: start)
            guard take("}") else { throw PatternError(offset: start, reason: .incompleteEscape) }
            return scalar
        }
        let high = try number(ofHexDigits: 4, from: start)
        guard high & 0xFC00 == 0xD800 else { return try scalar(high, from: start) }
        guard take("\\"), take("u") else {
            throw PatternError(offset: start, reason: .incompleteEscape)
        }
        let low = try number(ofHexDigits: 4, from: start)
        guard low & 0xFC00 == 0xDC00 else {
            throw PatternError(offset: start, reason: .incompleteEscape)
        }
        return try scalar(0x10000 + (high & 0x3FF) << 10 + low & 0x3FF, from: start)
    }

    private mutating func scalar(
        ofHexDigits count: Int, from start: Int
    ) throws(PatternError) -> Unicode.Scalar {
        try scalar(try number(ofHexDigits: count, from: start), from: start)
    }

    private func scalar(_ value: UInt32, from start: Int) throws(PatternError) -> Unicode.Scalar {
        guard let scalar = Unicode.Scalar(value) else {
            throw PatternError(offset: start, reason: .incompleteEscape)
        }
        return scalar
    }

    private mutating func number(
        ofHexDigits count: Int, from start: Int
    ) throws(PatternError) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<count {
            guard let scalar = next(), scalar.isASCII, let digit = Character(scalar).hexDigitValue
            else { throw PatternError(offset: start, reason: .incompleteEscape) }
            value = value << 4 | UInt32(digit)
        }
        return value
    }
}

extension ScalarMembers {
    init(_ scalar: Unicode.Scalar) {
        self.init(scalar...scalar)
    }

    init(_ range: ClosedRange<Unicode.Scalar>) {
        self.init(ranges: [range.lowerBound.value...range.upperBound.value])
    }

    /// The other scalars, for members without categories.
    fileprivate var complement: ScalarMembers { ScalarMembers(ranges: ranges.complement) }

    fileprivate static let digits = ScalarMembers("0"..."9")
    fileprivate static let word = ScalarMembers(
        ranges: [0x30...0x39, 0x41...0x5A, 0x5F...0x5F, 0x61...0x7A])

    /// ECMA-262, WhiteSpace and LineTerminator.
    fileprivate static let space = ScalarMembers(ranges: [
        0x09...0x0D, 0x20...0x20, 0xA0...0xA0, 0x1680...0x1680, 0x2000...0x200A, 0x2028...0x2029,
        0x202F...0x202F, 0x205F...0x205F, 0x3000...0x3000, 0xFEFF...0xFEFF,
    ])

    /// ECMA-262, LineTerminator: the scalars that `.` does not match.
    static let lineBreaks = ScalarMembers(ranges: [0x0A...0x0A, 0x0D...0x0D, 0x2028...0x2029])
}
