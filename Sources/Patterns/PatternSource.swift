/// The text of a pattern with a read position, and the tokens of its grammar.
struct PatternSource {
    private let scalars: [Unicode.Scalar]
    private(set) var at = 0

    init(_ text: String) {
        scalars = Array(text.unicodeScalars)
    }

    var peek: Unicode.Scalar? { peek(ahead: 0) }

    func peek(ahead distance: Int) -> Unicode.Scalar? {
        at + distance < scalars.count ? scalars[at + distance] : nil
    }

    mutating func next() -> Unicode.Scalar? {
        guard let scalar = peek else { return nil }
        at += 1
        return scalar
    }

    mutating func take(_ wanted: Unicode.Scalar) -> Bool {
        guard peek == wanted else { return false }
        at += 1
        return true
    }

    /// An error at the current position.
    func error(_ reason: PatternError.Reason) -> PatternError {
        PatternError(offset: at, reason: reason)
    }
}

// Reading groups and repetitions.
extension PatternSource {
    /// Reads `?:` or `?<name>` after the `(` at `start`; a plain group has neither.
    mutating func takeGroupKind(from start: Int) throws(PatternError) {
        guard take("?"), !take(":") else { return }
        if peek == "=" || peek == "!" { throw PatternError(offset: start, reason: .lookAround) }
        guard take("<") else { throw PatternError(offset: start, reason: .groupOption) }
        if peek == "=" || peek == "!" { throw PatternError(offset: start, reason: .lookAround) }
        while let scalar = next() {
            if scalar == ">" { return }
            guard scalar.properties.isAlphabetic || scalar == "_" || decimal(scalar) != nil else {
                break
            }
        }
        throw PatternError(offset: start, reason: .groupOption)
    }

    /// Reads `*`, `+`, `?`, `{2}`, `{2,}` or `{2,5}`; nil if there is no repetition.
    mutating func takeRepetition() throws(PatternError) -> (least: Int, most: Int?)? {
        if take("*") { return (0, nil) }
        if take("+") { return (1, nil) }
        if take("?") { return (0, 1) }
        let start = at
        guard take("{") else { return nil }
        guard let least = takeNumber() else { throw PatternError(offset: start, reason: .brace) }
        var most: Int? = least
        if take(",") { most = takeNumber() }
        guard take("}") else { throw PatternError(offset: start, reason: .brace) }
        if let most, most < least {
            throw PatternError(offset: start, reason: .repetitionOutOfOrder)
        }
        return (least, most)
    }

    /// Reads a number; it stops growing where the compiler refuses it anyway.
    private mutating func takeNumber() -> Int? {
        var number: Int?
        while let scalar = peek, let digit = decimal(scalar) {
            number = min((number ?? 0) * 10 + digit, PatternProgram.sizeMax + 1)
            at += 1
        }
        return number
    }

    private func decimal(_ scalar: Unicode.Scalar) -> Int? {
        ("0"..."9").contains(scalar) ? Int(scalar.value) - 0x30 : nil
    }
}
