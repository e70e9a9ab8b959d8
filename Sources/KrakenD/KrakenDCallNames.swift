import Gateway
import YAMLReader

/// The names of an endpoint's calls, which are the keys of their responses, as in KrakenD.
///
/// A call may have the name of a parameter: `{name}` is the parameter, and the importer writes no
/// reference to a whole response.
struct KrakenDCallNames {
    /// The names for all backends, in file order.
    private(set) var all: [String]

    init(_ nodes: [DocumentNode], parameters: [String], _ findings: ImportFindings) {
        all = nodes.map { _ in "" }
        // Names that clients see as keys are assigned first; only other names may be changed.
        for (index, node) in nodes.enumerated() {
            guard let key = Self.key(of: node) else { continue }
            all[index] = name(for: key, among: nodes[..<index], node, findings)
        }
        for (index, node) in nodes.enumerated() where all[index].isEmpty {
            all[index] = KrakenDBackends.unique(
                Self.validName(for: Self.word(of: node)), among: all + parameters)
        }
    }

    /// The key under which KrakenD stores the response; nil if it merges it into the root.
    static func key(of node: DocumentNode) -> String? {
        if let group = node["group"]?.name { return group }
        guard KrakenDShape.isList(node) else { return nil }
        return KrakenDShape.nameOfList(node) ?? "collection"
    }

    private func name(
        for key: String, among earlier: ArraySlice<DocumentNode>, _ node: DocumentNode,
        _ findings: ImportFindings
    ) -> String {
        let location = node["group"]?.location ?? node.location(of: "is_collection")
        let name = KrakenDBackends.unique(Self.validName(for: key), among: all)
        if earlier.contains(where: { Self.key(of: $0) == key }) {
            findings.warning(
                at: location,
                "another backend has the key '\(key)' too: KrakenD keeps one of the two responses; here"
                    + " this one is stored under '\(name)'")
        } else if name != key {
            findings.warning(
                at: location,
                "the response is stored under '\(name)', not under '\(key)': names of calls begin with"
                    + " a letter and consist of letters, digits, _ and -")
        }
        return name
    }

    /// The last word of the path.
    private static func word(of node: DocumentNode) -> String {
        let words = (node["url_pattern"]?.text ?? "").prefix { $0 != "?" }.split(separator: "/")
        let word = words.last { !$0.contains("{") && $0.contains(where: \.isLetter) }
        return word.map(String.init) ?? "call"
    }

    /// The key with characters replaced that a name of a call cannot have.
    private static func validName(for key: String) -> String {
        let name = String(
            key.map { sign in
                sign.isASCII && (sign.isLetter || sign.isNumber || "_-".contains(sign)) ? sign : "-"
            })
        return Config.Call.problem(withName: name) == nil ? name : "call-" + name
    }
}
