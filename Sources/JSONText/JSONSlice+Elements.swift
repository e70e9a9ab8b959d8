package import Basics

extension JSONSlice {
    /// How many elements an array has; 0 for another value.
    package var elementCount: Int { elements.reduce(0) { count, _ in count + 1 } }

    /// The value with other elements in the array at a path, in one pass; the bytes around them stay. Nil if there
    /// is no array.
    ///
    /// - Parameters:
    ///   - path: of keys and indices; nil for the value itself
    ///   - change: gives the element with this index; nil for one that stays as it is
    package func changingElements(
        at path: JSONPath?, _ change: (_ index: Int, _ element: JSONSlice) -> JSONSlice?
    ) -> JSONSlice? {
        let text = Lookahead(bytes.span)
        let whole = 0..<bytes.count
        guard let range = path.map({ text.range(of: $0.steps[...], in: whole) }) ?? whole,
            text.byte(range.lowerBound) == .openBracket
        else { return nil }
        var out: [UInt8] = []
        var copied = 0
        var index = 0
        var cursor = JSONCursor(text, at: range.lowerBound + 1)
        while let element = cursor.nextElement() {
            if let changed = change(index, JSONSlice(known: bytes[element])) {
                out.append(copying: text.span(copied..<element.lowerBound))
                out.append(changed.bytes)
                copied = element.upperBound
            }
            index += 1
        }
        out.append(copying: text.span(copied..<bytes.count))
        return JSONSlice(known: Bytes(out))
    }

    /// An array of these elements.
    package init(elements: [JSONSlice]) {
        var out: [UInt8] = [.openBracket]
        for (index, element) in elements.enumerated() {
            if index > 0 { out.append(.comma) }
            out.append(element.bytes)
        }
        out.append(.closeBracket)
        self.init(known: Bytes(out))
    }

    /// A string.
    package init(string text: Bytes) {
        var out: [UInt8] = []
        out.append(jsonString: text)
        self.init(known: Bytes(out))
    }
}
