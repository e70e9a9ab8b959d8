import Gateway
import YAMLReader

/// Converts the lists of headers and query parameters that KrakenD forwards to `forward`.
struct KrakenDForward {
    private var headers = List()
    private var query = List()
    /// The headers that are never forwarded, whatever a list contains.
    private let identity: KrakenDIdentity

    private struct List: Equatable {
        var names: [String] = []
        /// `*`
        var isAll = false

        init() {}

        init(_ node: DocumentNode?) {
            names = (node?.texts ?? []).filter { $0 != "*" && !$0.isEmpty }
            isAll = node?.texts.contains("*") == true
        }
    }

    /// The lists of an endpoint.
    ///
    /// - Parameter trustsProxies: whether `X-Forwarded-Proto` of a proxy is known to be true
    init(
        headers node: DocumentNode?, query: DocumentNode?, _ identity: KrakenDIdentity,
        trustsProxies: Bool, _ findings: inout ImportFindings
    ) {
        self.identity = identity
        headers = List(node)
        self.query = List(query)
        guard let node else { return }
        headers.names.removeAll { name in
            if HeaderSyntax.isForwarding(name) {
                Self.reportForwarding(name, at: node.location, trustsProxies, &findings)
                return true
            }
            return identity.contains(name) || !Self.isForwardable(name, node.location, &findings)
        }
    }

    /// Whether all headers are forwarded, which only `proxy` can express.
    var hasAllHeaders: Bool { headers.isAll }
    var hasAllQuery: Bool { query.isAll }

    /// A backend with its own lists receives what both lists contain.
    func narrowed(by backend: DocumentNode) -> KrakenDForward {
        var rest = self
        rest.headers = Self.narrowed(headers, by: backend["input_headers"]) { $0.lowercased() }
        rest.headers.names.removeAll {
            (try? HeaderSyntax.check(name: $0)) == nil || HeaderSyntax.isForwarding($0)
                || identity.contains($0)
        }
        rest.query = Self.narrowed(query, by: backend["input_query_strings"]) { $0 }
        return rest
    }

    private static func narrowed(
        _ list: List, by node: DocumentNode?, _ spelled: (String) -> String
    ) -> List {
        guard let node, !node.texts.isEmpty, !node.texts.contains("*") else { return list }
        let own = List(node)
        guard !list.isAll else { return own }
        let names = Set(own.names.map(spelled))
        var rest = list
        rest.names = list.names.filter { names.contains(spelled($0)) }
        return rest
    }

    /// Without what modifiers replace.
    func without(_ martian: KrakenDMartian) -> KrakenDForward {
        var rest = self
        rest.headers.names.removeAll(where: martian.replaces)
        rest.query.names.removeAll { name in martian.query.contains { $0.name == name } }
        return rest
    }

    /// A list with further headers.
    func with(_ names: [String]) -> KrakenDForward {
        var rest = self
        let known = Set(headers.names.map { $0.lowercased() })
        rest.headers.names += names.filter { !known.contains($0.lowercased()) }
        return rest
    }

    /// Whether a header is forwarded.
    func forwards(_ name: String) -> Bool {
        headers.isAll || headers.names.contains { $0.lowercased() == name.lowercased() }
    }

    /// A forwarded header with credentials.
    var credentials: String? {
        headers.names.first { ["authorization", "cookie"].contains($0.lowercased()) }
    }

    var isEmpty: Bool { headers.names.isEmpty && query.names.isEmpty && !query.isAll }

    /// Whether another list is the same for calls, which cannot forward all headers.
    func isSame(as other: KrakenDForward) -> Bool {
        headers.names == other.headers.names && query == other.query
    }

    var tree: YAMLTree {
        var members: [(String, YAMLTree)] = []
        if !headers.names.isEmpty { members.append(("headers", .texts(headers.names))) }
        if query.isAll || !query.names.isEmpty { members.append(("query", queryTree)) }
        // An empty list means that nothing is forwarded; an empty block would have no meaning.
        return .inline(members.isEmpty ? [("headers", .texts([]))] : members)
    }

    /// Of an endpoint with `proxy`, which forwards everything without it.
    var treeOfProxy: YAMLTree {
        .inline([("headers", .texts(headers.names)), ("query", queryTree)])
    }

    private var queryTree: YAMLTree { query.isAll ? .text("all") : .texts(query.names) }

    // MARK: Losses

    static func reportAll(_ node: DocumentNode, _ findings: inout ImportFindings) {
        findings.warning(
            at: node.location,
            "'*' is left out: only listed headers are forwarded; list their names")
    }

    /// `forwarded: x` of the backends sends the three headers that servers read.
    private static func reportForwarding(
        _ name: String, at location: SourceLocation, _ trustsProxies: Bool,
        _ findings: inout ImportFindings
    ) {
        // KrakenD replaces the client's value of these two.
        if ["x-forwarded-for", "x-forwarded-host"].contains(name.lowercased()) { return }
        if name.lowercased() == "x-forwarded-proto" {
            guard !trustsProxies else { return }
            return findings.warning(
                at: location,
                "'\(name)' has the scheme of the connection to the gateway; where a proxy in front"
                    + " accepts https, list it in 'trusted_proxies' of 'clients'")
        }
        findings.warning(
            at: location,
            "'\(name)' is left out: any client can send it; 'forwarded: x' sends X-Forwarded-For,"
                + " -Proto and -Host")
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
