import Basics
import HTTP

extension CompiledTemplate {
    /// The value of a header line. Nil where a value is missing or cannot be part of a line, and where the whole is
    /// too long for one.
    func fieldValue(in values: CallValues) -> FieldValue? {
        var text: [UInt8] = []
        for piece in pieces {
            switch piece {
            case .literal(let bytes): text.append(bytes)
            case .reference(let reference, let position):
                let value =
                    position == .field
                    ? values.text(of: reference) : values.escapedText(of: reference)
                guard let value else { return nil }
                text.append(value)
            }
        }
        return text.count <= Limits.fieldBytesMax ? FieldValue(Bytes(text)) : nil
    }
}
