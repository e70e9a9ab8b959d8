/// Reads one YAML file into a tree with a place for every node.
///
/// The YAML of configuration files, not all of YAML: one document, keys that are scalars, and no
/// anchors, aliases or tags. Aliases would give one value two places and a small file a huge tree;
/// what endpoints share goes into `defaults:` and `backends:`, so nothing is lost without them.
/// Works event by event with a stack of its own: deep input costs no call stack.
package enum YAMLDocument {
    /// Deepest nesting of mappings and sequences.
    ///
    /// The deepest useful configuration has about ten levels; trees are walked by recursion.
    package static let depthMax = 64

    /// The document in `text`, whose problems and places name `file`.
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
