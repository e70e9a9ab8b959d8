import GatewayConfig
import YAMLReader

/// Converts the lists of headers and query parameters that KrakenD forwards to `forward`.
struct KrakenDForward: Equatable {
    private var headers = List()
    private var query = List()

    private struct List: Equatable {
        var names: [String] = []
        /// `*`
        var isAll = false
    }

    /// The lists of an endpoint.
    init(_ endpoint: DocumentNode, _ findings: inout ImportFindings) {
        if let node = endpoint["input_headers"] {
            headers = Self.list(node)
            headers.names.removeAll { !Self.isForwardable($0, node.location, &findings) }
            if headers.isAll { Self.report(node, &findings) }
        }
        if let node = endpoint["input_query_strings"] {
            query = Self.list(node)
        }
    }

    /// A backend with its own lists receives what both lists contain.
    func narrowed(by backend: DocumentNode) -> KrakenDForward {
        var rest = self
        rest.headers = Self.narrowed(headers, by: backend["input_headers"]) { $0.lowercased() }
        rest.headers.names.removeAll { (try? HeaderSyntax.check(name: $0)) == nil }
        rest.query = Self.narrowed(query, by: backend["input_query_strings"]) { $0 }
        return rest
    }

    private static func narrowed(
        _ list: List, by node: DocumentNode?, _ spelled: (String) -> String
    ) -> List {
        guard let node, !node.texts.isEmpty, !node.texts.contains("*") else { return list }
        let own = Self.list(node)
        guard !list.isAll else { return own }
        let names = Set(own.names.map(spelled))
        return List(names: list.names.filter { names.contains(spelled($0)) })
    }

    func without(_ isRemoved: (String) -> Bool) -> KrakenDForward {
        var rest = self
        rest.headers.names.removeAll(where: isRemoved)
        return rest
    }

    /// A forwarded header with credentials.
    var credentials: String? {
        headers.names.first { ["authorization", "cookie"].contains($0.lowercased()) }
    }

    var isEmpty: Bool { headers.names.isEmpty && query.names.isEmpty && !query.isAll }

    var tree: YAMLTree {
        var members: [(String, YAMLTree)] = []
        if !headers.names.isEmpty { members.append(("headers", .texts(headers.names))) }
        if query.isAll {
            members.append(("query", .text("all")))
        } else if !query.names.isEmpty {
            members.append(("query", .texts(query.names)))
        }
        // An empty list means that nothing is forwarded; an empty block would have no meaning.
        return .inline(members.isEmpty ? [("headers", .texts([]))] : members)
    }

    private static func list(_ node: DocumentNode) -> List {
        let names = node.texts.filter { $0 != "*" && !$0.isEmpty }
        return List(names: names, isAll: node.texts.contains("*"))
    }

    private static func report(_ node: DocumentNode, _ findings: inout ImportFindings) {
        findings.warning(
            at: node.location,
            "'*' is left out: only listed headers are forwarded; list their names")
    }

    private static func isForwardable(
        _ name: String, _ location: SourceLocation, _ findings: inout ImportFindings
    ) -> Bool {
        do throws(Refusal) {
            try HeaderSyntax.check(name: name)
            return true
        } catch {
            findings.note(at: location, "'\(name)' is left out: 'forward' \(error.message)")
            return false
        }
    }
}
