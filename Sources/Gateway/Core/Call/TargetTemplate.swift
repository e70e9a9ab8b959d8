import Basics
import HTTP

/// The target of a call's requests, compiled: one text with the literal parts, and where values go.
struct TargetTemplate {
    enum Part {
        /// This range of `text`.
        case literal(Range<Int>)
        /// A parameter, by its index; `reference` is its place in `references`.
        case param(Int, reference: Int)
        /// Any other value.
        case value(reference: Int)
        /// A value whose elements are joined, if it is a list.
        case list(reference: Int)
    }

    let parts: [Part]
    let references: [CompiledTemplate.Reference]
    private let text: Bytes
    /// The offset of the first `?` in `text`; nil without one.
    private let queryStart: Int?

    /// Whether a target is valid whatever the values are. A percent-encoded value cannot end the
    /// path, so that the literal parts decide.
    let isAlwaysValid: Bool

    init(_ template: CompiledTemplate) {
        var parts: [Part] = []
        var references: [CompiledTemplate.Reference] = []
        var text: [UInt8] = []
        var sample: [UInt8] = []
        for piece in template.pieces {
            switch piece {
            case .literal(let bytes):
                parts.append(.literal(text.count..<(text.count + bytes.count)))
                text.append(bytes)
                sample.append(bytes)
            case .reference(let reference, _):
                if reference.separator != nil {
                    parts.append(.list(reference: references.count))
                } else if case .param(let index) = reference.source {
                    parts.append(.param(index, reference: references.count))
                } else {
                    parts.append(.value(reference: references.count))
                }
                references.append(reference)
                // Not a digit of an escape, so that a value cannot complete one.
                sample.append(UInt8(ascii: "x"))
            }
        }
        self.parts = parts
        self.references = references
        self.text = Bytes(text)
        queryStart = text.firstIndex(of: UInt8(ascii: "?"))
        isAlwaysValid = Target(Bytes(sample))?.form == .origin
    }

    /// Appends a literal part.
    func append(_ range: Range<Int>, to target: inout [UInt8]) {
        target.append(copying: text.span.extracting(range))
    }

    /// The offset of the query in a target to which the literal part will be appended; nil if it
    /// does not begin there.
    func queryStart(in range: Range<Int>, at offset: Int) -> Int? {
        guard let queryStart, range.contains(queryStart) else { return nil }
        return offset + queryStart - range.lowerBound
    }
}
