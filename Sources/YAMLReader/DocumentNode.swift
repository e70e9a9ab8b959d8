/// One value of a configuration file, with its place: what YAML and JSON have in common.
///
/// A tree of them is at most `YAMLLimits.depthMax` deep, so walking it may recurse.
package struct DocumentNode: Sendable, Equatable {
    package let place: Place
    package let content: Content

    package init(place: Place, content: Content) {
        self.place = place
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
        package let keyPlace: Place
        package let node: DocumentNode

        package init(key: String, keyPlace: Place, node: DocumentNode) {
            self.key = key
            self.keyPlace = keyPlace
            self.node = node
        }
    }

    /// A text, a number, `true`, `false` or `null`.
    package struct Scalar: Sendable, Equatable {
        package let text: String

        /// Written without quotes, so `12`, `true` and `null` are not strings.
        package let isPlain: Bool

        /// Where the first character of `text` stands, if the file spells it like `text`, in one
        /// line; nil where escapes, folding or an expansion made the text another one.
        package let textStart: Place?

        package init(text: String, isPlain: Bool, textStart: Place? = nil) {
            self.text = text
            self.isPlain = isPlain
            self.textStart = textStart
        }
    }
}
