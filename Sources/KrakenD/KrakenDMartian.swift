import Gateway
import HTTP
import YAMLReader

/// Converts the part of `modifier/martian` that `headers` and the target of a call can express.
struct KrakenDMartian {
    /// Headers that are set on the request and replace the client's.
    private(set) var headers: [(name: String, value: YAMLTree)] = []

    /// Query parameters that are set and replace the client's, as in a query.
    private(set) var query: [(name: String, text: String)] = []

    /// Headers of the client that do not reach the backend, in lower case: those that a modifier
    /// removes, and those that a modifier sets that is left out.
    private(set) var removed: Set<String> = []

    /// - Parameter isRelayed: whether the backend's headers are relayed to clients, as with `no-op`
    init(_ backend: DocumentNode, isRelayed: Bool, _ findings: inout ImportFindings) {
        self.isRelayed = isRelayed
        guard let modifier = backend["extra_config"]?["modifier/martian"] else { return }
        add(modifier, isOnRequest: true, isOnResponse: true, &findings)
        removed.subtract(headers.map { $0.name.lowercased() })
    }

    /// Whether it sets a header that `forwarded` sends.
    var setsForwarding: Bool { headers.contains { HeaderSyntax.isForwarding($0.name) } }

    /// Whether a modifier changes the query, which `proxy` cannot express.
    static func changesQuery(_ backend: DocumentNode) -> Bool {
        var findings = ImportFindings()
        return !KrakenDMartian(backend, isRelayed: true, &findings).query.isEmpty
    }

    private let isRelayed: Bool

    /// Whether the client's header of this name does not reach the backend.
    func replaces(_ name: String) -> Bool {
        removed.contains(name.lowercased())
            || headers.contains { $0.name.lowercased() == name.lowercased() }
    }

    /// The recursion over nested groups is as deep as a document may be. Without a scope a modifier
    /// applies to the request and the response.
    private mutating func add(
        _ node: DocumentNode, isOnRequest: Bool, isOnResponse: Bool,
        _ findings: inout ImportFindings
    ) {
        for member in node.members {
            let scope = member.node["scope"]?.texts
            let isOnRequest = isOnRequest && scope?.contains("request") != false
            let isOnResponse = isOnResponse && scope?.contains("response") != false
            if member.key == "fifo.Group" {
                for inner in member.node["modifiers"]?.elements ?? [] {
                    add(inner, isOnRequest: isOnRequest, isOnResponse: isOnResponse, &findings)
                }
                continue
            }
            if isOnResponse, scope != nil || !isOnRequest {
                let prefix = "'\(member.key)' of the response is left out: "
                if isRelayed || !member.key.hasPrefix("header.") {
                    findings.warning(
                        at: member.keyLocation,
                        prefix + "clients get the headers that the backend sends")
                } else {
                    findings.note(at: member.keyLocation, prefix + "no client received it")
                }
            }
            if isOnRequest { change(member, &findings) }
        }
    }

    private mutating func change(_ member: DocumentNode.Member, _ findings: inout ImportFindings) {
        switch member.key {
        case "header.Modifier": set(member, &findings)
        case "querystring.Modifier": setQuery(member)
        case "header.Blacklist":
            removed.formUnion((member.node["names"]?.texts ?? []).map { $0.lowercased() })
        default:
            removed.formUnion(Self.headersSet(by: member))
            findings.warning(
                at: member.keyLocation,
                "'\(member.key)' is left out: only fixed headers and query parameters are converted"
            )
        }
    }

    private static func setting(_ member: DocumentNode.Member) -> (name: String, value: String) {
        (
            member.node["name"]?.text ?? "",
            member.node["value"]?.text ?? member.node["value"]?.number ?? ""
        )
    }

    private mutating func setQuery(_ member: DocumentNode.Member) {
        let (name, value) = Self.setting(member)
        var text: [UInt8] = []
        text.append(percentEncoding: Array(name.utf8).span)
        text.append(UInt8(ascii: "="))
        text.append(percentEncoding: Array(value.utf8).span)
        query.removeAll { $0.name == name }
        query.append((name, String(decoding: text, as: UTF8.self)))
    }

    private mutating func set(_ member: DocumentNode.Member, _ findings: inout ImportFindings) {
        let (name, value) = Self.setting(member)
        do throws(Refusal) {
            try HeaderSyntax.check(name: name)
            try HeaderSyntax.check(value: value)
            guard !value.contains("${") else { throw Refusal("must not have '${' in its value") }
        } catch {
            removed.insert(name.lowercased())
            findings.warning(
                at: member.keyLocation, "header '\(name)' is left out: 'headers' \(error.message)")
            return
        }
        let literal = value.replacing("{", with: "{{").replacing("}", with: "}}")
        headers.removeAll { $0.name.lowercased() == name.lowercased() }
        headers.append((name, .located(.text(literal), member.keyLocation)))
    }

    /// The headers that a modifier and those inside it set. The recursion is as deep as a document may
    /// be.
    private static func headersSet(by member: DocumentNode.Member) -> Set<String> {
        var names: Set<String> = []
        if ["header.Modifier", "header.Append", "header.Copy", "header.Id"].contains(member.key) {
            names = Set(
                ["name", "to"].compactMap { member.node[$0]?.text?.lowercased() })
        }
        let inner = member.node.members + member.node.elements.flatMap(\.members)
        return inner.reduce(into: names) { $0.formUnion(headersSet(by: $1)) }
    }
}
