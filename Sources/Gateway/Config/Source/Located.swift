package import YAMLReader

/// A value and its source location in the configuration.
package struct Located<Value: Sendable>: Sendable {
    package let value: Value
    package let location: SourceLocation

    /// The text in the file, `${NAME}`, if the value comes from a variable or a secret file:
    /// messages quote it and never the value.
    package let written: String?

    package init(_ value: Value, at location: SourceLocation) {
        self.init(value, at: location, written: nil)
    }

    init(_ value: Value, at location: SourceLocation, written: String?) {
        self.value = value
        self.location = location
        self.written = written
    }

    /// Read from a node of the document.
    init(_ value: Value, of node: DocumentNode) {
        var written: String?
        if case .scalar(let scalar) = node.content, Expansion.isNeeded(in: scalar.text) {
            written = scalar.text
        }
        self.init(value, at: node.location, written: written)
    }

    /// Whether the file itself contains the whole value, so that messages may quote it.
    var isVerbatim: Bool { written == nil }

    /// The value as a message may quote it.
    package func quoted(_ spelling: (Value) -> String) -> String {
        written ?? spelling(value)
    }
}

extension Located: Equatable where Value: Equatable {}

extension Located<String> {
    /// The text as a message may quote it.
    package var quoted: String { written ?? value }
}

extension Located<Duration> {
    /// The time as a message may quote it: `800ms`.
    var quoted: String { quoted(\.spelled) }
}
