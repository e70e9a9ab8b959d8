/// Reads one YAML file into a tree with a source location for every node.
///
/// It supports the YAML of configuration files: one document, keys that are scalars, and no
/// anchors, aliases or tags. With aliases one value would have two source locations, and a small
/// file could become a huge tree; what endpoints share goes into `defaults:` and `backends:`.
/// Events are read with an explicit stack: deep input needs no call stack.
package enum YAMLDocument {
    /// Deepest nesting of mappings and sequences.
    ///
    /// Useful configurations have about ten levels; other code recurses over the tree.
    package static let depthMax = 64

    /// Reads the document in `text`. Source locations and problems name `file`.
    package static func read(
        _ text: [UInt8], file: String
    ) throws(DocumentProblem) -> DocumentNode {
        let source = SourceText(text, file: file)
        let events = try YAMLEvents(source)
        var builder = TreeBuilder(depthMax: depthMax)
        while let event = try events.next() {
            try builder.add(event)
        }
        guard let root = builder.root else {
            throw DocumentProblem(location: SourceLocation(file: file), text: "the file is empty")
        }
        return root
    }
}
