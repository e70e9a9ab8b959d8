package import Basics

/// The value of a header field, checked so that it cannot split a head: no control byte but the
/// tab, no surrounding white space (RFC 9110 5.5).
package struct FieldValue: Sendable, Equatable {
    package let bytes: Bytes

    /// Nil if the trimmed bytes contain a control byte.
    package init?(_ bytes: Bytes) {
        guard bytes.span.firstControl(from: 0) == bytes.count else { return nil }
        self.bytes = bytes.trimmed
    }

    /// Nil if the text contains a control character.
    package init?(_ text: String) {
        self.init(Bytes(text))
    }

    /// A decimal number.
    package init(_ number: UInt64) {
        var digits: [UInt8] = []
        digits.append(decimal: number)
        bytes = Bytes(digits)
    }

    /// Bytes that were checked where they were read.
    init(checked bytes: Bytes) {
        self.bytes = bytes
    }
}

extension FieldValue: ExpressibleByStringLiteral {
    /// A value written in the program; one with a control byte is a programming error, and traps.
    package init(stringLiteral literal: StaticString) {
        guard let value = FieldValue(Bytes(copying: literal.span)) else {
            preconditionFailure("a field value holds no control byte")
        }
        self = value
    }
}

extension FieldValue: CustomStringConvertible {
    package var description: String { String(bytes) }
}
