import YAMLReader

/// Texts, numbers, sizes, durations and choices.
extension ValueReader where Value == String {
    /// A text that `check` accepts; `format` names it for the schema.
    static func text(
        _ format: TextFormat = .text, _ check: @escaping @Sendable (String) throws(Refusal) -> Void
    ) -> ValueReader {
        locatedText(format) { scalar throws(Refusal) in try check(scalar.text) }
    }

    /// A text that `check` accepts, or refuses at a location inside it.
    static func locatedText(
        _ format: TextFormat, _ check: @escaping @Sendable (ExpandedScalar) throws(Refusal) -> Void
    ) -> ValueReader {
        .scalar(.text(format: format), expected: "must be a text") { scalar throws(Refusal) in
            guard scalar.isText else {
                throw Refusal("must be a text; write it in quotes: \"\(scalar.written)\"")
            }
            try check(scalar)
            return scalar.text
        }
    }

    /// Any text but the empty one.
    static var text: ValueReader {
        text { text throws(Refusal) in
            if text.isEmpty { throw Refusal("must not be empty") }
        }
    }

    /// A text, or the spelling of a number, `true` or `false`.
    static var spelled: ValueReader {
        .scalar(.scalar, expected: "must be a text or a number") { scalar throws(Refusal) in
            if scalar.type == .null && !scalar.isExpanded {
                throw Refusal("must have a value; write \"\" for an empty one")
            }
            return scalar.text
        }
    }
}

extension ValueReader where Value == Bool {
    static var flag: ValueReader {
        .scalar(.flag, expected: "must be true or false") { scalar throws(Refusal) in
            guard case .bool(let value) = scalar.type else {
                let written = scalar.written.lowercased()
                let meant = ["yes": "true", "on": "true", "no": "false", "off": "false"]
                let hint =
                    ["true", "false"].contains(written)
                    ? ", without quotes" : meant[written].map { " - did you mean \($0)?" } ?? ""
                throw Refusal("must be true or false\(fixed: hint)")
            }
            return value
        }
    }
}

extension ValueReader where Value == Int {
    /// A whole number in a range.
    static func count(_ range: ClosedRange<Int>) -> ValueReader {
        let message =
            switch range.upperBound {
            case .max: "must be a whole number of at least \(range.lowerBound)"
            case range.lowerBound: "must be \(range.lowerBound)"
            case let last: "must be a whole number from \(range.lowerBound) to \(last)"
            }
        return .scalar(.integer(range), expected: message) { scalar throws(Refusal) in
            guard case .integer(let value?) = scalar.type, range.contains(value) else {
                let isQuoted = Int(scalar.written).map(range.contains) ?? false
                throw Refusal("\(fixed: message)\(fixed: isQuoted ? ", without quotes" : "")")
            }
            return value
        }
    }

    /// A number of connections, requests or calls. The limit of a million is more than fits into
    /// memory, and ensures that sums over the workers cannot overflow.
    static var positive: ValueReader { count(1...1_000_000) }
    static var natural: ValueReader { count(0...1_000_000) }

    /// The number of characters of a value.
    static var length: ValueReader { count(0...SizeLimits.length) }

    /// Bytes, as `64KiB`.
    static func size(upTo max: Int) -> ValueReader {
        .scalar(.size(max), expected: "must be a size, such as 64KiB") { scalar throws(Refusal) in
            try Quantity(scalar.text, in: .size(upTo: max), allowsZero: false).amount
        }
    }
}

extension ValueReader where Value == Duration {
    static func duration(allowsZero: Bool) -> ValueReader {
        .scalar(.duration, expected: "must be a time, such as 300ms") { scalar throws(Refusal) in
            .nanoseconds(try Quantity(scalar.text, in: .time, allowsZero: allowsZero).amount)
        }
    }

    static var duration: ValueReader { duration(allowsZero: false) }
}

extension ValueReader where Value == Double {
    /// `50%`, read as 0.5; more than 0, at most 1.
    static var share: ValueReader {
        .scalar(.share, expected: "must be a share, such as 50%") { scalar throws(Refusal) in
            Double(try Quantity(scalar.text, in: .share, allowsZero: false).amount) / 1_000_000
        }
    }
}

extension ValueReader where Value == Config.Number {
    static var number: ValueReader {
        .scalar(.number, expected: "must be a number") { scalar throws(Refusal) in
            switch scalar.type {
            case .integer(let integer):
                guard let value = integer.map(Double.init) ?? Double(scalar.text) else { break }
                return Config.Number(text: scalar.text, value: value, integer: integer)
            case .decimal:
                guard let value = Double(scalar.text), value.isFinite else { break }
                return Config.Number(
                    text: scalar.text, value: value, integer: Int(exactly: value))
            case .null, .bool, .string: break
            }
            throw Refusal("must be a number")
        }
    }
}

extension ValueReader
where Value: CaseIterable & RawRepresentable<String> & Sendable {
    /// One of several fixed message.
    static var choice: ValueReader {
        let names = Value.allCases.map(\.rawValue)
        let message = "must be \(names.joined(with: "or"))"
        return .scalar(.choice(names), expected: message) { scalar throws(Refusal) in
            guard let value = Value(rawValue: scalar.text) else {
                throw Refusal(.init(fixed: message) + .suggestion(for: scalar.text, among: names))
            }
            return value
        }
    }
}

/// The largest sizes that a configuration may have, in bytes unless stated otherwise. Each is far
/// more than a request needs, and small enough that no sum of them overflows.
package enum SizeLimits {
    /// One body in memory; the count of an HTTP message's bytes fits into 32 bits.
    static let body = 1 << 30
    /// One body that is passed on piece by piece.
    static let stream = 1 << 50
    /// All bodies of a process.
    static let buffers = 1 << 40
    /// The head of a request.
    static let head = 16 << 20
    /// Characters of a value. No body has as many, but a file may use the largest 32-bit number to
    /// express no limit; lengths are compared and never added.
    package static let length = Int(Int32.max)
}
