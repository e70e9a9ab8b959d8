import Basics

/// A moment in the format of RFC 3339: `2026-12-31T23:59:59Z`.
enum TimeText {
    static let message =
        "must be a time such as \"2026-12-31T00:00:00Z\" (RFC 3339), with its offset from UTC"

    /// Seconds since 1970. A fraction of a second is ignored, and so is a leap second.
    static func unixTime(_ text: String) throws(Refusal) -> Int64 {
        var reader = Reader(Array(text.utf8))
        guard let time = reader.unixTime() else { throw Refusal(.init(fixed: message)) }
        return time
    }

    /// Reads the parts from left to right (RFC 3339 5.6).
    private struct Reader {
        private let text: [UInt8]
        private var position = 0

        init(_ text: [UInt8]) {
            self.text = text
        }

        mutating func unixTime() -> Int64? {
            guard let year = number(4), skip("-"), let month = number(2), skip("-"),
                let day = number(2), skip("Tt "),
                let days = CivilDate.daysSince1970(year: year, month: month, day: day),
                let hour = number(2), hour < 24, skip(":"), let minute = number(2), minute < 60,
                skip(":"), let second = number(2), second <= 60, skipFraction(),
                let offset = offset(), position == text.count
            else { return nil }
            return days * 86_400 + hour * 3_600 + minute * 60 + min(second, 59) - offset
        }

        /// Seconds to subtract.
        private mutating func offset() -> Int64? {
            if skip("Zz") { return 0 }
            let isWest = position < text.count && text[position] == UInt8(ascii: "-")
            guard skip("+-"), let hour = number(2), hour < 24, skip(":"), let minute = number(2),
                minute < 60
            else { return nil }
            return (isWest ? -1 : 1) * (hour * 3_600 + minute * 60)
        }

        private mutating func skipFraction() -> Bool {
            guard skip(".") else { return true }
            let start = position
            while position < text.count, isDigit(text[position]) { position += 1 }
            return position > start
        }

        private mutating func number(_ digits: Int) -> Int64? {
            guard position + digits <= text.count else { return nil }
            var number: Int64 = 0
            for index in position..<(position + digits) {
                guard isDigit(text[index]) else { return nil }
                number = number * 10 + Int64(text[index] - UInt8(ascii: "0"))
            }
            position += digits
            return number
        }

        private mutating func skip(_ choices: String) -> Bool {
            guard position < text.count, choices.utf8.contains(text[position]) else { return false }
            position += 1
            return true
        }

        private func isDigit(_ byte: UInt8) -> Bool {
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        }
    }
}
