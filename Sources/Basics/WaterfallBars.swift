/// Draws parts of one period as bars of characters.
package struct WaterfallBars {
    private let start: Instant
    private let nanoseconds: Int64
    private let scale: Int
    private let columns: Int
    private let character: Character

    /// - Parameters:
    ///   - scale: the columns of the whole period
    ///   - columns: the columns of a bar; one more than `scale` leaves room for a part that begins
    ///     at the end
    ///   - sign: the character of a bar
    package init(
        from start: Instant, to end: Instant, scale: Int, columns: Int, of character: Character
    ) {
        self.start = start
        nanoseconds = max(1, (end - start).inNanoseconds)
        self.scale = scale
        self.columns = columns
        self.character = character
    }

    /// A bar of at least one character, padded with spaces, between two `|`.
    ///
    /// - Parameter marks: moments that a digit marks in the bar, starting with 2: the marks are
    ///   later attempts of a call
    package func bar(from partStart: Instant, to partEnd: Instant, marks: [Instant] = []) -> String
    {
        var cells = Array(repeating: Character(" "), count: columns)
        let first = min(column(of: partStart), columns - 1)
        for cell in first..<max(first + 1, min(column(of: partEnd), columns)) {
            cells[cell] = character
        }
        for (index, moment) in marks.enumerated() {
            cells[min(column(of: moment), columns - 1)] =
                index < 8 ? Character("\(index + 2)") : "+"
        }
        return "|" + String(cells) + "|"
    }

    private func column(of moment: Instant) -> Int {
        let passed = min(nanoseconds, max(0, (moment - start).inNanoseconds))
        let (high, low) = passed.multipliedFullWidth(by: Int64(scale))
        return Int(nanoseconds.dividingFullWidth((high, low)).quotient)
    }
}

extension [UInt8] {
    /// Appends a time as milliseconds with one decimal: `12.3`. A negative time counts as zero.
    package mutating func append(tenthsOfMilliseconds time: Duration) {
        let tenths = UInt64(Swift.max(0, time.inNanoseconds)) / 100_000
        append(decimal: tenths / 10)
        append(UInt8(ascii: "."))
        append(decimal: tenths % 10)
    }
}

extension Duration {
    /// The duration as `12.3ms`; a negative one counts as zero.
    package var millisecondsText: String {
        var text: [UInt8] = []
        text.append(tenthsOfMilliseconds: self)
        return String(decoding: text, as: UTF8.self) + "ms"
    }
}
