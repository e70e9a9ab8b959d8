import Gateway
import YAMLReader

/// Converts KrakenD's transformations of a response to `take`, `keep`, `drop` and `rename`.
///
/// KrakenD applies `target`, `allow` or `deny`, `mapping` and `group` in the same order as the
/// gateway; a flatmap filter replaces all but `target` and `group`.
struct KrakenDShape {
    private let node: DocumentNode
    private var take: String?
    private var keep: [String]?
    private var flatmap = KrakenDFlatmap()

    /// KrakenD wraps a list as `{"collection": [...]}`; here the list itself is the value.
    private let isList: Bool

    init(_ node: DocumentNode, _ findings: inout ImportFindings) throws(Refusal) {
        self.node = node
        isList = Self.isList(node)
        let operations = KrakenDFlatmap.Operation.all(of: node)
        takeTarget(&findings)
        guard operations.isEmpty else {
            reportIgnored("KrakenD ignores it with 'flatmap_filter'", &findings)
            for operation in operations { try apply(operation, &findings) }
            return
        }
        if isList {
            reportIgnored(
                "KrakenD ignores it for a list; 'keep: [\"[].id\"]' selects members of its elements",
                &findings)
        } else {
            filter()
        }
    }

    static func isList(_ node: DocumentNode) -> Bool {
        if node["is_collection"]?.flag == true { return true }
        // Only a list has this key; 'safejson' detects lists.
        return node["encoding"]?.text == "safejson" && nameOfList(node) != nil
    }

    /// The key of a backend's list in KrakenD's response, if not `collection`.
    static func nameOfList(_ node: DocumentNode) -> String? {
        let operations = KrakenDFlatmap.Operation.all(of: node)
        guard operations.isEmpty else { return operations.compactMap(\.nameOfList).first }
        let mapped = node["mapping"]?["collection"]?.text
        return mapped.map { String($0.prefix { $0 != "." }) }
    }

    private mutating func takeTarget(_ findings: inout ImportFindings) {
        guard let target = node["target"], let path = target.text, !path.isEmpty else { return }
        if isList {
            findings.warning(
                at: target.location,
                "'target' is left out: for a list KrakenD responds with an empty object")
        } else {
            take = KrakenDPath.keys(path)
        }
    }

    private mutating func filter() {
        if let allow = node["allow"]?.texts, !allow.isEmpty {
            keep = allow.map(KrakenDPath.keys)
        } else {
            for path in node["deny"]?.texts ?? [] {
                flatmap.drop(
                    path.split(separator: ".", omittingEmptySubsequences: false).map(String.init))
            }
        }
        for member in node["mapping"]?.members ?? [] {
            guard let name = member.node.text else { continue }
            // KrakenD truncates the new name at its first dot.
            flatmap.rename([member.key], to: String(name.prefix { $0 != "." }))
        }
    }

    private func reportIgnored(_ reason: String, _ findings: inout ImportFindings) {
        for key in ["allow", "deny", "mapping"] {
            guard let ignored = node[key], ignored.members.count + ignored.elements.count > 0,
                key != "mapping" || ignored["collection"] == nil || ignored.members.count > 1
            else { continue }
            findings.note(at: ignored.location, "'\(key)' is left out: \(reason)")
        }
    }

    /// Applies an operation of a flatmap filter, of the backend or, after it, of the endpoint.
    mutating func apply(
        _ operation: KrakenDFlatmap.Operation, _ findings: inout ImportFindings
    ) throws(Refusal) {
        guard isList else { return try flatmap.apply(operation, &findings) }
        if operation.nameOfList != nil { return }
        let name = Self.nameOfList(node) ?? "collection"
        var inside = operation
        inside.arguments = operation.arguments.map { path in
            [name, "collection"].contains(path.first) ? Array(path.dropFirst()) : path
        }
        guard
            inside.arguments.allSatisfy({
                $0.first == "*" || $0.first.map(KrakenDPath.isIndex) == true
            })
        else {
            throw Refusal(
                "its '\(operation.type)' does not select elements of the list '\(name)'",
                at: operation.location
            )
        }
        try flatmap.apply(inside, &findings)
    }

    var members: [(String, YAMLTree)] {
        var members: [(String, YAMLTree)] = []
        if let take { members.append(("take", located(.text(take), "target"))) }
        if let keep { members.append(("keep", located(.texts(keep), "allow"))) }
        let drops = flatmap.drops.map { steps in
            usesElements
                ? KrakenDPath.elements(steps) : steps.map(KrakenDPath.key).joined(separator: ".")
        }
        if !drops.isEmpty { members.append(("drop", located(.texts(drops), "deny"))) }
        let renames = flatmap.renames.map { rename in
            (
                usesElements
                    ? KrakenDPath.elements(rename.path)
                    : rename.path.map(KrakenDPath.key).joined(separator: "."),
                YAMLTree.text(rename.name)
            )
        }
        if !renames.isEmpty { members.append(("rename", located(.inline(renames), "mapping"))) }
        return members
    }

    /// In `deny` and `mapping`, `*` and `0` are keys like any other.
    private var usesElements: Bool { isList || !KrakenDFlatmap.Operation.all(of: node).isEmpty }

    private func located(_ tree: YAMLTree, _ key: String) -> YAMLTree {
        node[key].map { .located(tree, $0.location) } ?? tree
    }
}
