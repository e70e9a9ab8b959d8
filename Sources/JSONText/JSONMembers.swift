import Basics

/// The members of an object, in the order of the text; empty for every other kind of value.
package struct JSONMembers: Sequence {
    private let slice: JSONSlice

    init(of slice: JSONSlice) { self.slice = slice }

    /// One member: its key as written, and its value.
    package struct Element: Sendable {
        package let key: JSONString
        package let value: JSONSlice
    }

    package struct Iterator: IteratorProtocol {
        private let bytes: Bytes
        private var at: Int

        fileprivate init(_ slice: JSONSlice) {
            bytes = slice.bytes
            at = slice.kind == .object ? 1 : bytes.count
        }

        package mutating func next() -> Element? {
            var cursor = JSONCursor(Lookahead(bytes.span), at: at)
            guard let member = cursor.nextMember() else { return nil }
            at = cursor.at
            return Element(
                key: JSONString(known: bytes[member.key.inside]),
                value: JSONSlice(known: bytes[member.value]))
        }
    }

    package func makeIterator() -> Iterator { Iterator(slice) }
}

/// The elements of an array, in order; empty for every other kind of value.
package struct JSONElements: Sequence {
    private let slice: JSONSlice

    init(of slice: JSONSlice) { self.slice = slice }

    package struct Iterator: IteratorProtocol {
        private let bytes: Bytes
        private var at: Int

        fileprivate init(_ slice: JSONSlice) {
            bytes = slice.bytes
            at = slice.kind == .array ? 1 : bytes.count
        }

        package mutating func next() -> JSONSlice? {
            var cursor = JSONCursor(Lookahead(bytes.span), at: at)
            guard let element = cursor.nextElement() else { return nil }
            at = cursor.at
            return JSONSlice(known: bytes[element])
        }
    }

    package func makeIterator() -> Iterator { Iterator(slice) }
}

extension JSONSlice {
    package var members: JSONMembers { JSONMembers(of: self) }
    package var elements: JSONElements { JSONElements(of: self) }
}
