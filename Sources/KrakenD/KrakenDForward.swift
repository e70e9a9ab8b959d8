import Gateway
import HTTP
import YAMLReader

/// Converts the lists of headers and query parameters that KrakenD forwards to `forward`.
struct KrakenDForward {
    private var headers: List
    private var query: List
    /// The headers that are never forwarded, whatever a list contains.
    private let identity: KrakenDIdentity

    private struct List: Equatable {
        var names: [String]
        /// `*`
        let isAll: Bool

        init(_ node: DocumentNode?) {
            let texts = node?.texts ?? []
            names = texts.filter { $0 != "*" && !$0.isEmpty }
            isAll = texts.contains("*")
        }

        /// A backend with its own list receives what both lists contain.
        func narrowed(by node: DocumentNode?, _ spelled: (String) -> String) -> List {
            let own = List(node)
            guard node?.texts.isEmpty == false, !own.isAll else { return self }
            guard !isAll else { return own }
            let names = Set(own.names.map(spelled))
            var rest = self
            rest.names.removeAll { !names.contains(spelled($0)) }
            return rest
        }
    }

    /// The lists of an endpoint.
    ///
    /// - Parameter trustsProxies: whether `X-Forwarded-Proto` of a proxy is known to be true
    init(
        headers node: DocumentNode?, query: DocumentNode?, _ identity: KrakenDIdentity,
        trustsProxies: Bool, _ findings: ImportFindings
    ) {
        self.identity = identity
        headers = List(node)
        self.query = List(query)
        guard let node else { return }
        headers.names.removeAll { name in
            if HeaderSyntax.isForwarding(name) {
                Self.reportForwarding(name, at: node.location, trustsProxies, findings)
                return true
            }
            if identity.contains(name) { return true }
            do throws(Refusal) {
                try HeaderSyntax.check(name: name)
                return false
            } catch {
                findings.note(
                    at: node.location, "'\(name)' is left out: 'forward' \(error.message)")
                return true
            }
        }
    }

    /// `forwarded: x` of the backends sends the three headers that servers read.
    private static func reportForwarding(
        _ name: String, at location: SourceLocation, _ trustsProxies: Bool,
        _ findings: ImportFindings
    ) {
        switch name.lowercased() {
        // KrakenD replaces the client's value of these two.
        case "x-forwarded-for", "x-forwarded-host": break
        case "x-forwarded-proto":
            guard !trustsProxies else { return }
            findings.warning(
                at: location,
                "'\(name)' has the scheme of the connection to the gateway; where a proxy in front"
                    + " accepts https, list it in 'trusted_proxies' of 'clients'")
        default:
            findings.warning(
                at: location,
                "'\(name)' is left out: any client can send it; 'forwarded: x' sends X-Forwarded-For,"
                    + " -Proto and -Host")
        }
    }

    /// Whether all headers are forwarded, which only `proxy` can express.
    var hasAllHeaders: Bool { headers.isAll }
    var hasAllQuery: Bool { query.isAll }
    var isEmpty: Bool { headers.names.isEmpty && query.names.isEmpty && !query.isAll }

    /// The lists of a backend.
    func narrowed(by backend: DocumentNode) -> KrakenDForward {
        var rest = self
        rest.headers = headers.narrowed(by: backend["input_headers"]) { $0.lowercased() }
        rest.headers.names.removeAll {
            (try? HeaderSyntax.check(name: $0)) == nil || HeaderSyntax.isForwarding($0)
                || identity.contains($0)
        }
        rest.query = query.narrowed(by: backend["input_query_strings"]) { $0 }
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

    /// Whether another list is the same for calls, which cannot forward all headers.
    func isSame(as other: KrakenDForward) -> Bool {
        headers.names == other.headers.names && query == other.query
    }

    var tree: YAMLTree {
        let hasQuery = query.isAll || !query.names.isEmpty
        // An empty list means that nothing is forwarded; an empty block would have no meaning.
        let hasHeaders = !headers.names.isEmpty || !hasQuery
        return .inline(
            YAMLTree.members([
                ("headers", hasHeaders ? .texts(headers.names) : nil),
                ("query", hasQuery ? queryTree : nil),
            ]))
    }

    /// Of an endpoint with `proxy`, which forwards everything without it.
    var treeOfProxy: YAMLTree {
        .inline([("headers", .texts(headers.names)), ("query", queryTree)])
    }

    private var queryTree: YAMLTree { query.isAll ? .text("all") : .texts(query.names) }
}

/// Converts the part of `modifier/martian` that `headers` and the target of a call can express.
struct KrakenDMartian {
    /// Headers that are set on the request and replace the client's.
    private(set) var headers: YAMLMembers = []
    /// Query parameters that are set and replace the client's, as in a query.
    private(set) var query: [(name: String, text: String)] = []
    /// Headers of the client that do not reach the backend, in lower case: headers that a modifier
    /// removes, and headers that a modifier sets that is left out.
    private(set) var removed: Set<String> = []
    private let isRelayed: Bool
    private let findings: ImportFindings

    /// - Parameter isRelayed: whether the backend's headers are relayed to clients, as with `no-op`
    init(_ backend: DocumentNode, isRelayed: Bool, _ findings: ImportFindings) {
        self.isRelayed = isRelayed
        self.findings = findings
        guard let modifier = backend.extra("modifier/martian")?.node else { return }
        add(modifier, isOnRequest: true, isOnResponse: true)
        removed.subtract(headers.map { $0.0.lowercased() })
    }

    /// Whether it sets a header that `forwarded` sends.
    var setsForwarding: Bool { headers.contains { HeaderSyntax.isForwarding($0.0) } }

    /// Whether a modifier changes the query, which `proxy` cannot express.
    static func changesQuery(_ backend: DocumentNode) -> Bool {
        !KrakenDMartian(backend, isRelayed: true, ImportFindings()).query.isEmpty
    }

    /// Whether the client's header of this name does not reach the backend.
    func replaces(_ name: String) -> Bool {
        removed.contains(name.lowercased()) || headers.contains { Self.isSame($0.0, name) }
    }

    private static func isSame(_ one: String, _ other: String) -> Bool {
        one.lowercased() == other.lowercased()
    }

    /// The recursion over nested groups is as deep as a document may be. Without a scope a modifier
    /// applies to the request and the response.
    private mutating func add(_ node: DocumentNode, isOnRequest: Bool, isOnResponse: Bool) {
        for member in node.members {
            let scope = member.node["scope"]?.texts
            let isOnRequest = isOnRequest && scope?.contains("request") != false
            let isOnResponse = isOnResponse && scope?.contains("response") != false
            if member.key == "fifo.Group" {
                for inner in member.node["modifiers"]?.elements ?? [] {
                    add(inner, isOnRequest: isOnRequest, isOnResponse: isOnResponse)
                }
                continue
            }
            if isOnResponse, scope != nil || !isOnRequest {
                let isSent = isRelayed || !member.key.hasPrefix("header.")
                findings.add(
                    isSent ? .warning : .note, member.keyLocation,
                    "'\(member.key)' of the response is left out: "
                        + (isSent
                            ? "clients get the headers that the backend sends"
                            : "no client received it"))
            }
            if isOnRequest { change(member) }
        }
    }

    private mutating func change(_ member: DocumentNode.Member) {
        let name = member.node["name"]?.text ?? ""
        let value = member.node["value"]?.text ?? member.node["value"]?.number ?? ""
        switch member.key {
        case "header.Modifier": set(name, value, member.keyLocation)
        case "querystring.Modifier":
            query.removeAll { $0.name == name }
            query.append((name, "\(name.percentEncoded)=\(value.percentEncoded)"))
        case "header.Blacklist":
            removed.formUnion((member.node["names"]?.texts ?? []).map { $0.lowercased() })
        default:
            removed.formUnion(Self.headersSet(by: member))
            findings.reportLoss(
                of: member, .warning, "only fixed headers and query parameters are converted")
        }
    }

    private mutating func set(_ name: String, _ value: String, _ location: SourceLocation) {
        do throws(Refusal) {
            try HeaderSyntax.check(name: name)
            try HeaderSyntax.check(value: value)
            guard !value.contains("${") else { throw Refusal("must not have '${' in its value") }
            headers.removeAll { Self.isSame($0.0, name) }
            headers.append((name, .located(.text(value.literalTemplate), location)))
        } catch {
            removed.insert(name.lowercased())
            findings.warning(
                at: location, "header '\(name)' is left out: 'headers' \(error.message)")
        }
    }

    /// The headers that a modifier and the modifiers inside it set. The recursion is as deep as a
    /// document may be.
    private static func headersSet(by member: DocumentNode.Member) -> Set<String> {
        var names: Set<String> = []
        if ["header.Modifier", "header.Append", "header.Copy", "header.Id"].contains(member.key) {
            names = Set(["name", "to"].compactMap { member.node[$0]?.text?.lowercased() })
        }
        let inner = member.node.members + member.node.elements.flatMap(\.members)
        return inner.reduce(into: names) { $0.formUnion(headersSet(by: $1)) }
    }
}

extension String {
    /// As one value of a query.
    fileprivate var percentEncoded: String {
        var bytes: [UInt8] = []
        bytes.append(percentEncoding: Array(utf8).span)
        return String(decoding: bytes, as: UTF8.self)
    }
}
