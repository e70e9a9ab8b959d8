package import Basics

/// A parsed text with the source range of every value, for configuration files; not used for
/// bodies.
package struct JSONDocument: Sendable {
    /// The whole text, white space included; offsets count from its start.
    package let text: Bytes
    package let root: Node

    /// A value and its range in the text.
    package struct Node: Sendable {
        /// Counted in bytes from the start of the text.
        package let range: Range<Int>
        package let content: Content
    }

    /// The content of a value. Numbers stay text; the reader converts them.
    package indirect enum Content: Sendable {
        case object([Member])
        case array([Node])
        case string(String)
        case number(String)
        case boolean(Bool)
        case null
    }

    /// One member, in the order of the text. Duplicate keys are kept.
    package struct Member: Sendable {
        package let key: String
        /// The key with its quotes.
        package let keyRange: Range<Int>
        package let value: Node
    }

    /// Checks a text and reads it.
    package init(_ text: Bytes) throws(JSONError) {
        let range = try JSONSlice.range(in: text.span)
        self.text = text
        var reader = JSONDocumentReader(text.span)
        root = reader.node(range)
    }
}
