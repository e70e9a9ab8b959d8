import Basics
import JSONText

// JSON values with references, of which missing ones are left out.
extension CallValues {
    /// False, and appends nothing, where the value is missing. An entry of an object or a list without a
    /// value is left out. The recursion is as deep as the value in the configuration.
    func append(_ value: ValuePlan, to json: inout [UInt8]) -> Bool {
        switch value {
        case .literal(let text): json.append(text)
        case .reference(let reference, let isTextual):
            return append(reference, isTextual: isTextual, to: &json)
        case .text(let pieces): return append(pieces, to: &json)
        case .object(let members):
            json.append(UInt8(ascii: "{"))
            for member in members { appendEntry(member.key.written, member.value, to: &json) }
            json.append(UInt8(ascii: "}"))
        case .list(let elements):
            json.append(UInt8(ascii: "["))
            for element in elements { appendEntry(Bytes(), element, to: &json) }
            json.append(UInt8(ascii: "]"))
        }
        return true
    }

    private func appendEntry(_ key: Bytes, _ value: ValuePlan, to json: inout [UInt8]) {
        let end = json.count
        json.appendJSONComma()
        json.append(key)
        if !append(value, to: &json) { json.removeSubrange(end...) }
    }

    private func append(
        _ reference: CompiledTemplate.Reference, isTextual: Bool, to json: inout [UInt8]
    ) -> Bool {
        if let value = self.json(of: reference.source) {
            json.append(value.bytes)
            return true
        }
        // A body that is not JSON has no value.
        if case .requestBody = reference.source { return false }
        guard let text = text(of: reference.source), text.isUTF8 else { return false }
        if isTextual { json.append(jsonString: text) } else { json.append(text) }
        return true
    }

    private func append(_ pieces: [CompiledTemplate.Piece], to json: inout [UInt8]) -> Bool {
        let start = json.count
        json.append(UInt8(ascii: "\""))
        for piece in pieces {
            switch piece {
            case .literal(let text): json.append(text)
            case .reference(let reference, _):
                guard let text = text(of: reference.source), text.isUTF8 else {
                    json.removeSubrange(start...)
                    return false
                }
                json.append(insideJSONString: text)
            }
        }
        json.append(UInt8(ascii: "\""))
        return true
    }
}
