package import Basics

/// Why an attempt failed, or why a call could not use its response: a text for operators, which no
/// client gets unless its endpoint exposes details. A part of a `RequestRecord`.
package struct FailureDetail: Sendable, Equatable {
    /// The index of the call.
    package let call: UInt16
    /// The place of the attempt in the record; nil for a failure of the call itself.
    package let attempt: UInt16?
    /// At most `bytesMax` long. Parts of it may come from the backend.
    package let text: Bytes

    /// 200 bytes: longer than OpenSSL's messages, shorter than a field that a backend can send.
    package static let bytesMax = 200

    package init(call: UInt16, attempt: UInt16?, stored text: Bytes) {
        self.call = call
        self.attempt = attempt
        self.text = text
    }

    init(call: UInt16, attempt: UInt16?, _ text: String) {
        self.call = call
        self.attempt = attempt
        var end =
            text.utf8.index(
                text.startIndex, offsetBy: Self.bytesMax, limitedBy: text.endIndex) ?? text.endIndex
        // Not in the middle of a character.
        while end.samePosition(in: text.unicodeScalars) == nil {
            end = text.utf8.index(before: end)
        }
        self.text = Bytes(text[..<end])
    }
}

extension [FailureDetail] {
    /// Why a call failed, or one of its attempts; nil where no reason was recorded.
    package func text(ofCall call: Int, attempt: Int?) -> Bytes? {
        last { Int($0.call) == call && $0.attempt.map { Int($0) } == attempt }?.text
    }
}
