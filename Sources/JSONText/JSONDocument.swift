package import Basics

/// A text with the place of everything in it, for configuration files; bodies never become one.
package struct JSONDocument: Sendable {
    /// The whole text, white space included; offsets count from its start.
    package let text: Bytes
    package let root: Node

    /// A value and where it stands.
    package struct Node: Sendable {
        /// Counted in bytes from the start of the text.
        package let range: Range<Int>
        package let content: Content
    }

    /// What a value is. Numbers stay text, for the reader knows what it wants of them.
    package indirect enum Content: Sendable {
        case object([Member])
        case array([Node])
        case string(String)
        case number(String)
        case boolean(Bool)
        case null
    }

    /// One member, in the order of the text. Keys that come twice are both here.
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
