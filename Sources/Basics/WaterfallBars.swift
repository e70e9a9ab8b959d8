/// Draws parts of one period as bars, one below the other.
package struct WaterfallBars {
    private let start: Instant
    private let nanoseconds: Int64
    private let scale: Int
    private let columns: Int
    private let sign: Character

    /// - Parameters:
    ///   - scale: the columns that the period takes
    ///   - columns: those of a bar; one more than `scale` leaves room for what begins at the end
    ///   - sign: what a bar is made of
    package init(
        from start: Instant, to end: Instant, scale: Int, columns: Int, of sign: Character
    ) {
        self.start = start
        nanoseconds = max(1, (end - start).inNanoseconds)
        self.scale = scale
        self.columns = columns
        self.sign = sign
    }

    /// At least one sign, with spaces around it, between two strokes.
    ///
    /// - Parameter marks: moments that are marked in it by a digit, the first by 2: it is the second
    ///   of its kind
    package func bar(from began: Instant, to ended: Instant, marks: [Instant] = []) -> String {
        var cells = Array(repeating: Character(" "), count: columns)
        let first = min(column(of: began), columns - 1)
        for cell in first..<max(first + 1, min(column(of: ended), columns)) { cells[cell] = sign }
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
    /// Appends a time as milliseconds with one decimal: `12.3`. A negative one counts as zero.
    package mutating func append(tenthsOfMilliseconds time: Duration) {
        let tenths = UInt64(Swift.max(0, time.inNanoseconds)) / 100_000
        append(decimal: tenths / 10)
        append(UInt8(ascii: "."))
        append(decimal: tenths % 10)
    }
}

extension Duration {
    /// `12.3ms`; a negative one counts as zero.
    package var millisecondsText: String {
        var text: [UInt8] = []
        text.append(tenthsOfMilliseconds: self)
        return String(decoding: text, as: UTF8.self) + "ms"
    }
}
