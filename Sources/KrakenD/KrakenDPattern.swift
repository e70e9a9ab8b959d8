import Gateway
import HTTP

/// Converts a `url_pattern` to the target of a call: parameters stay, `{resp0_id}` becomes a
/// reference to the call whose response it uses.
struct KrakenDPattern {
    let text: String

    /// The calls whose responses it uses, by index.
    private(set) var calls: Set<Int> = []

    /// - Parameter query: they replace parameters of the pattern with the same names
    init(
        _ pattern: String, setting query: [(name: String, text: String)] = [], of index: Int,
        _ scope: KrakenDCall.Scope
    ) throws(Refusal) {
        var text = ""
        var rest = pattern[...]
        while let open = rest.firstIndex(of: "{") {
            text += Self.escaped(rest[..<open])
            // A dollar sign before the brace would begin a variable.
            if text.hasSuffix("$") { text = text.dropLast() + "%24" }
            guard let close = rest[open...].firstIndex(of: "}") else { break }
            let name = String(rest[rest.index(after: open)..<close])
            let reference = try Self.reference(name, of: index, scope, &calls)
            // KrakenD joins the elements of a list with commas.
            let joins = text.contains("?") && reference != name
            text += "{\(reference)\(joins ? "," : "")}"
            rest = rest[rest.index(after: close)...]
        }
        text += Self.escaped(rest)
        if !query.isEmpty { text = Self.setting(query, in: text) }
        self.text = text.hasPrefix("/") ? text : "/" + text
    }

    private static func setting(
        _ query: [(name: String, text: String)], in target: String
    ) -> String {
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let kept = (parts.count == 2 ? parts[1].split(separator: "&") : []).filter { parameter in
            !query.contains { $0.name == parameter.prefix { $0 != "=" } }
        }
        return parts[0] + "?" + (kept.map(String.init) + query.map(\.text)).joined(separator: "&")
    }

    /// Escapes characters that a request target must not contain; KrakenD sends them unescaped.
    private static func escaped(_ text: Substring) -> String {
        var result = ""
        for sign in text {
            if (try? URLSyntax.check(pathAndQuery: String(sign))) != nil || sign == "%" {
                result.append(sign)
            } else {
                for byte in String(sign).utf8 {
                    let digits = String(byte, radix: 16, uppercase: true)
                    result += byte < 16 ? "%0\(digits)" : "%\(digits)"
                }
            }
        }
        return result
    }

    private static func reference(
        _ name: String, of index: Int, _ scope: KrakenDCall.Scope, _ calls: inout Set<Int>
    ) throws(Refusal) -> String {
        if scope.route.parameters.contains(name) { return name }
        if scope.readsTokens, name.hasPrefix("JWT.") {
            guard let claim = KrakenDValidator.path(of: String(name.dropFirst(4))) else {
                throw Refusal("its path uses {\(name)}, which a reference cannot name")
            }
            return KrakenDValidator.reference(to: claim)
        }
        guard name.hasPrefix("resp"), let (earlier, path) = responseReference(name) else {
            throw Refusal(
                name.hasPrefix("JWT.")
                    ? "its path uses {\(name)}, and the endpoint has no 'auth/validator' that is converted"
                    : "its path uses {\(name)}, which is not a parameter of the route")
        }
        guard scope.isSequential, earlier < index, !KrakenDCall.isShadow(scope.nodes[earlier])
        else {
            throw Refusal("its path uses {\(name)}, and no earlier call has that response")
        }
        guard let inside = inside(path, of: earlier, scope) else {
            throw Refusal("its path uses {\(name)}, which is a whole response, not a single value")
        }
        let steps = inside.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard !scope.lateChanges[earlier].contains(where: { KrakenDFlatmap.overlap($0, steps) })
        else {
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
    private static func responseReference(_ name: String) -> (call: Int, path: String)? {
        let number = name.dropFirst(4).prefix { $0.isNumber }
        let rest = name.dropFirst(4 + number.count)
        guard let call = Int(number), rest.hasPrefix("_"), rest.count > 1 else { return nil }
        return (call, String(rest.dropFirst()))
    }

    /// The path without the key under which KrakenD stores the response; nil if it has no other
    /// key.
    private static func inside(
        _ path: String, of call: Int, _ scope: KrakenDCall.Scope
    ) -> String? {
        guard let key = KrakenDCallNames.key(of: scope.nodes[call]) else { return path }
        guard path != key else { return nil }
        return path.hasPrefix(key + ".") ? String(path.dropFirst(key.count + 1)) : path
    }
}
