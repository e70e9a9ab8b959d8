/// Why a text is not JSON, and where.
package struct JSONError: Error, Equatable {
    /// The offset where the scan stopped, in bytes from the start of the text.
    package let offset: Int
    package let reason: Reason

    /// What is wrong at the offset.
    package enum Reason: Sendable {
        case unexpectedEnd
        case unexpectedByte
        case textAfterValue
        case invalidNumber
        case invalidEscape
        case loneSurrogate
        case invalidUTF8
        case controlByte
        case tooDeep
    }
}

extension JSONError: CustomStringConvertible {
    package var description: String { "\(reason) at byte \(offset)" }
}

extension JSONError.Reason: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unexpectedEnd: "the text ends before its value does"
        case .unexpectedByte: "this byte is not allowed here"
        case .textAfterValue: "something follows the value"
        case .invalidNumber: "not a number of JSON"
        case .invalidEscape: "not an escape of JSON"
        case .loneSurrogate: "half of a surrogate pair"
        case .invalidUTF8: "not UTF-8"
        case .controlByte: "a control byte inside a string"
        case .tooDeep: "nested too deeply"
        }
    }
}
