import Gateway
import YAMLReader

/// Converts KrakenD's `security/cors` to `defaults.cors`.
struct KrakenDCORS {
    /// Nil if the whole extension is left out.
    private(set) var tree: YAMLTree?

    /// The methods that pages of other origins may use; nil without the extension.
    private(set) var methods: Set<String>?

    init(_ member: DocumentNode.Member?, _ findings: inout ImportFindings) {
        guard let member else { return }
        let node = member.node
        let origins = Self.origins(node, member, &findings)
        guard !origins.isEmpty else { return }
        let hasCredentials = Self.hasCredentials(node, origins, &findings)
        var members: [(String, YAMLTree)] = [("origins", .texts(origins))]
        let headers = Self.names(node["allow_headers"], hasCredentials, &findings)
        if !headers.isEmpty { members.append(("headers", .texts(headers))) }
        let exposed = Self.names(node["expose_headers"], hasCredentials, &findings)
        if !exposed.isEmpty { members.append(("expose", .texts(exposed))) }
        if hasCredentials { members.append(("credentials", .plain("true"))) }
        if let age = node["max_age"]?.goDuration {
            members.append(("max_age", .text(age.spelled)))
        }
        tree = .located(.inline(members), member.keyLocation)
        let allowed = node["allow_methods"]?.texts ?? []
        methods = Set(
            (allowed.isEmpty ? ["GET", "HEAD", "POST"] : allowed).map { $0.uppercased() })
        for inner in node.members where !Self.known.contains(inner.key) {
            findings.reportLoss(of: inner, among: Self.losses)
        }
    }

    private static let known: Set<String> = [
        "allow_origins", "allow_headers", "expose_headers", "allow_credentials", "max_age",
        "allow_methods",
    ]

    private static let losses: [String: ImportLoss] = [
        "debug": .note("'tributary explain' shows the response to a preflight"),
        "options_passthrough": .warning("a route for OPTIONS takes precedence over a preflight"),
        "options_success_status": .note("a preflight gets a 204"),
        "allow_private_network": .warning("requests to private networks get no permission"),
    ]

    /// KrakenD's default is `*`.
    private static func origins(
        _ node: DocumentNode, _ member: DocumentNode.Member, _ findings: inout ImportFindings
    ) -> [String] {
        guard let list = node["allow_origins"], !list.texts.isEmpty else { return ["*"] }
        let origins = list.texts.filter { text in
            do throws(Refusal) {
                _ = try Config.CORS.Origin(parsing: text)
                return true
            } catch {
                findings.warning(
                    at: list.location,
                    "'\(text)' of 'allow_origins' is left out: it \(error.message)")
                return false
            }
        }
        if origins.isEmpty {
            findings.warning(
                at: member.keyLocation, "'security/cors' is left out: it has no valid origin")
        }
        return origins
    }

    private static func hasCredentials(
        _ node: DocumentNode, _ origins: [String], _ findings: inout ImportFindings
    ) -> Bool {
        guard let setting = node["allow_credentials"], setting.flag == true else { return false }
        guard origins.contains("*") else { return true }
        findings.warning(
            at: setting.location,
            "'allow_credentials' is left out: any page could act for its visitors; list the"
                + " origins")
        return false
    }

    private static func names(
        _ node: DocumentNode?, _ hasCredentials: Bool, _ findings: inout ImportFindings
    ) -> [String] {
        guard let node else { return [] }
        return node.texts.filter { name in
            guard name == "*", hasCredentials else { return true }
            findings.warning(
                at: node.location,
                "'*' is left out: with credentials, browsers read it as the name of a header")
            return false
        }
    }
}
