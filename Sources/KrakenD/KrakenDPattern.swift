import Gateway
import HTTP
import YAMLReader

/// Converts a `url_pattern` to the target of a call: parameters stay, `{resp0_id}` becomes a
/// reference to the call whose response it uses.
struct KrakenDPattern {
    private(set) var text = ""
    /// The calls whose responses it uses, by index.
    private(set) var calls: Set<Int> = []

    /// - Parameters:
    ///   - query: parameters that replace parameters of the pattern with the same names
    ///   - index: of the call
    init(
        _ pattern: String, setting query: [(name: String, text: String)], of index: Int,
        _ scope: KrakenDCall.Scope
    ) throws(Refusal) {
        var rest = pattern[...]
        while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
            text += Self.escaped(rest[..<open])
            // A dollar sign before the brace would begin a variable.
            if text.hasSuffix("$") { text = text.dropLast() + "%24" }
            let name = String(rest[rest.index(after: open)..<close])
            let reference = try reference(name, of: index, scope)
            // KrakenD joins the elements of a list with commas.
            let joins = reference != name && (text.contains("?") || Self.response(name) != nil)
            text += "{\(reference)\(joins ? "," : "")}"
            rest = rest[rest.index(after: close)...]
        }
        text += Self.escaped(rest)
        if !query.isEmpty {
            let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
            let kept = parts.dropFirst().flatMap { $0.split(separator: "&") }.filter { parameter in
                !query.contains { $0.name == parameter.prefix { $0 != "=" } }
            }
            text =
                parts[0] + "?" + (kept.map(String.init) + query.map(\.text)).joined(separator: "&")
        }
        if !text.hasPrefix("/") { text = "/" + text }
    }

    /// Escapes characters that a request target must not contain; KrakenD sends them unescaped.
    private static func escaped(_ text: Substring) -> String {
        text.map { sign in
            if (try? URLSyntax.check(pathAndQuery: String(sign))) != nil || sign == "%" {
                return String(sign)
            }
            return String(sign).utf8.map { byte in
                (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
            }.joined()
        }.joined()
    }

    private mutating func reference(
        _ name: String, of index: Int, _ scope: KrakenDCall.Scope
    ) throws(Refusal) -> String {
        if scope.route.parameters.contains(name) { return name }
        if scope.endpoint.hasTokens, name.hasPrefix("JWT.") {
            guard let claim = KrakenDValidator.path(of: String(name.dropFirst(4))) else {
                throw Refusal("its path uses {\(name)}, which a reference cannot name")
            }
            return KrakenDValidator.reference(to: claim)
        }
        guard let (earlier, path) = Self.response(name) else {
            throw Refusal(
                name.hasPrefix("JWT.")
                    ? "its path uses {\(name)}, and the endpoint has no 'auth/validator' that is converted"
                    : "its path uses {\(name)}, which is not a parameter of the route")
        }
        guard scope.endpoint.isSequential, earlier < index,
            !KrakenDCall.isShadow(scope.nodes[earlier])
        else {
            throw Refusal("its path uses {\(name)}, and no earlier call has that response")
        }
        // KrakenD stores the response under this key.
        let key = KrakenDCallNames.key(of: scope.nodes[earlier])
        guard path != key else {
            throw Refusal("its path uses {\(name)}, which is a whole response, not a single value")
        }
        let prefix = key.map { $0 + "." } ?? ""
        let inside = path.hasPrefix(prefix) ? String(path.dropFirst(prefix.count)) : path
        let isChanged = scope.lateChanges[earlier].contains {
            KrakenDFlatmap.overlap($0[...], inside.steps[...])
        }
        guard !isChanged else {
            throw Refusal(
                """
                its path uses {\(name)}, which 'flatmap_filter' of the endpoint changes after all calls; \
                'drop' and 'rename' change a response before the next call uses it
                """)
        }
        calls.insert(earlier)
        return "\(scope.names[earlier]).\(inside)"
    }

    /// `resp0_user.id` is `user.id` of call 0.
    private static func response(_ name: String) -> (call: Int, path: String)? {
        let number = name.dropFirst(4).prefix { $0.isNumber }
        let rest = name.dropFirst(4 + number.count)
        guard name.hasPrefix("resp"), let call = Int(number), rest.hasPrefix("_"), rest.count > 1
        else { return nil }
        return (call, String(rest.dropFirst()))
    }
}
