import GatewayConfig
import YAMLReader

/// The names of an endpoint's calls: under which key an answer stands, as it does in KrakenD.
///
/// A call may have the name of a parameter: `{name}` means the parameter, and the importer writes no
/// reference to a whole answer.
struct KrakenDCallNames {
    /// Of all backends, in file order.
    private(set) var all: [String]

    init(
        _ nodes: [DocumentNode], parameters: [String], _ findings: inout ImportFindings
    ) {
        all = nodes.map { _ in "" }
        // Keys that clients see first: only the rest may give way.
        for (index, node) in nodes.enumerated() {
            guard let key = Self.key(of: node) else { continue }
            all[index] = name(for: key, among: nodes[..<index], node, &findings)
        }
        for (index, node) in nodes.enumerated() where all[index].isEmpty {
            all[index] = KrakenDBackends.unique(
                Self.written(Self.word(of: node)), among: all + parameters)
        }
    }

    /// Under which key KrakenD puts the answer; nil where it merges it into the root.
    static func key(of node: DocumentNode) -> String? {
        if let group = node["group"]?.text, !group.isEmpty { return group }
        guard KrakenDShape.isList(node) else { return nil }
        return KrakenDShape.nameOfList(node) ?? "collection"
    }

    private func name(
        for key: String, among earlier: ArraySlice<DocumentNode>, _ node: DocumentNode,
        _ findings: inout ImportFindings
    ) -> String {
        let location = node["group"]?.location ?? node["is_collection"]?.location ?? node.location
        let written = Self.written(key)
        let name = KrakenDBackends.unique(written, among: all)
        if earlier.contains(where: { Self.key(of: $0) == key }) {
            findings.warning(
                at: location,
                "another backend has the key '\(key)' too: KrakenD keeps one of both answers; here"
                    + " this one stands under '\(name)'")
        } else if name != key {
            findings.warning(
                at: location,
                "the answer stands under '\(name)', not under '\(key)': names of calls begin with a"
                    + " letter and have letters, digits, _ and -")
        }
        return name
    }

    /// The last word of the path.
    private static func word(of node: DocumentNode) -> String {
        let words = (node["url_pattern"]?.text ?? "").prefix { $0 != "?" }.split(separator: "/")
        let word = words.last { !$0.contains("{") && $0.contains(where: \.isLetter) }
        return word.map(String.init) ?? "call"
    }

    /// The same as far as a name of a call can be.
    private static func written(_ key: String) -> String {
        let name = String(
            key.map { sign in
                sign.isASCII && (sign.isLetter || sign.isNumber || "_-".contains(sign)) ? sign : "-"
            })
        return Config.Call.problem(withName: name) == nil ? name : "call-" + name
    }
}
