package import Basics
import HTTP
import JSONText

// Lists among the values: references that join elements, `{tags,}` and `{tags&tag=}`, and their number.
extension CallValues {
    /// The number of elements of a list of the client; nil for any other source, and for a value that is not an
    /// array.
    func count(of source: CompiledTemplate.Source) -> Int? {
        switch source {
        case .requestQuery(let name): return head.target.values(ofQuery: name).count
        case .requestBody:
            guard let list = json(of: source), list.kind == .array else { return nil }
            return list.elementCount
        default: return nil
        }
    }

    /// The texts of the elements of a list, without nulls; of any other value its own text.
    ///
    /// Nil where the value is missing, or an object or a list is among the elements.
    package func texts(of source: CompiledTemplate.Source) -> [Bytes]? {
        if let texts = batchTexts(of: source) { return texts }
        guard let list = json(of: source), list.kind == .array else {
            return text(of: source).map { [$0] }
        }
        var texts: [Bytes] = []
        for element in list.elements where !element.isNull {
            guard let text = element.text else { return nil }
            texts.append(text)
        }
        return texts
    }

    /// The value of a reference in one line of a header. A value with a comma
    /// would look like two values of a list, so that it counts as missing there.
    package func text(of reference: CompiledTemplate.Reference) -> Bytes? {
        guard let separator = reference.separator else { return text(of: reference.source) }
        guard let texts = texts(of: reference.source),
            !texts.contains(where: { $0.array.contains(UInt8(ascii: ",")) })
        else { return nil }
        return texts.joined(by: separator)
    }

    /// The value of a reference as a path or a query contains it: each element is escaped, and the
    /// separator between them is not. Nil where the value is missing.
    package func escapedText(of reference: CompiledTemplate.Reference) -> Bytes? {
        let texts =
            reference.separator == nil
            ? text(of: reference.source).map { [$0] } : texts(of: reference.source)
        return texts?.map { text in
            var escaped: [UInt8] = []
            escaped.append(percentEncoding: text.span)
            return Bytes(escaped)
        }.joined(by: reference.separator ?? Bytes())
    }
}

extension [Bytes] {
    fileprivate func joined(by separator: Bytes) -> Bytes {
        var joined: [UInt8] = []
        for (index, text) in enumerated() {
            if index > 0 { joined.append(separator) }
            joined.append(text)
        }
        return Bytes(joined)
    }
}
