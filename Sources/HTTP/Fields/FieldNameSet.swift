/// A set of field names, compared without regard to case. Most names that are not in it are
/// recognised by their length and their first letter alone.
package struct FieldNameSet: Sendable {
    private var names: [FieldName] = []
    private var filter = FieldNameFilter()

    package init(_ names: [FieldName] = []) {
        for name in names { insert(name) }
    }

    package mutating func insert(_ name: FieldName) {
        names.append(name)
        filter.insert(name.span)
    }

    package func contains(_ name: Span<UInt8>) -> Bool {
        guard filter.mayContain(name) else { return false }
        return names.contains { $0.span.equalsIgnoringCase(name) }
    }
}
