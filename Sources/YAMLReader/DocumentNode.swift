/// One value of a configuration file, with its source location, for both YAML and JSON.
///
/// A tree is at most `YAMLDocument.depthMax` deep, so functions may recurse over it.
package struct DocumentNode: Sendable, Equatable {
    package let location: SourceLocation
    package let content: Content

    package init(location: SourceLocation, content: Content) {
        self.location = location
        self.content = content
    }

    /// What a node holds.
    package enum Content: Sendable, Equatable {
        /// Keys with their values in file order; duplicates are kept.
        case mapping([Member])
        case sequence([DocumentNode])
        case scalar(Scalar)
    }

    /// One key of a mapping with its value.
    package struct Member: Sendable, Equatable {
        package let key: String
        package let keyLocation: SourceLocation
        package let node: DocumentNode

        package init(key: String, keyLocation: SourceLocation, node: DocumentNode) {
            self.key = key
            self.keyLocation = keyLocation
            self.node = node
        }
    }

    /// A text, a number, `true`, `false` or `null`.
    package struct Scalar: Sendable, Equatable {
        package let text: String

        /// Written without quotes, so `12`, `true` and `null` are not strings.
        package let isPlain: Bool

        /// The source location of the first character of `text`, if the file contains `text`
        /// unchanged, in one line; nil if escapes, folding or an expansion changed it.
        package let textStart: SourceLocation?

        package init(text: String, isPlain: Bool, textStart: SourceLocation? = nil) {
            self.text = text
            self.isPlain = isPlain
            self.textStart = textStart
        }
    }
}
