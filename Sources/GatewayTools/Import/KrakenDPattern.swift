import GatewayConfig
import HTTP

/// A `url_pattern` as the target of a call: parameters stay, `{resp0_id}` becomes a reference to the
/// call whose answer it means.
struct KrakenDPattern {
    let text: String

    /// The calls whose answers it uses, by index.
    private(set) var calls: Set<Int> = []

    init(_ pattern: String, of index: Int, _ scope: KrakenDCall.Scope) throws(Refusal) {
        var text = ""
        var rest = pattern[...]
        while let open = rest.firstIndex(of: "{") {
            text += Self.escaped(rest[..<open])
            // A dollar sign before the brace would begin a variable.
            if text.hasSuffix("$") { text = text.dropLast() + "%24" }
            guard let close = rest[open...].firstIndex(of: "}") else { break }
            let name = String(rest[rest.index(after: open)..<close])
            text += "{\(try Self.reference(name, of: index, scope, &calls))}"
            rest = rest[rest.index(after: close)...]
        }
        text += Self.escaped(rest)
        self.text = text.hasPrefix("/") ? text : "/" + text
    }

    /// What must not stand in a request target is escaped; KrakenD sends it as it is.
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
        guard name.hasPrefix("resp"), let (earlier, path) = answer(name) else {
            throw Refusal(
                name.hasPrefix("JWT.")
                    ? "its path uses {\(name)}, and tokens are not read here"
                    : "its path uses {\(name)}, which is no parameter of the route")
        }
        guard scope.isSequential, earlier < index, !KrakenDCall.isShadow(scope.nodes[earlier])
        else {
            throw Refusal("its path uses {\(name)}, and no call before it has that answer")
        }
        guard let inside = inside(path, of: earlier, scope) else {
            throw Refusal("its path uses {\(name)}, which is a whole answer and no single value")
        }
        calls.insert(earlier)
        return "\(scope.names[earlier]).\(inside)"
    }

    /// `resp0_user.id` is `user.id` of call 0.
    private static func answer(_ name: String) -> (call: Int, path: String)? {
        let number = name.dropFirst(4).prefix { $0.isNumber }
        let rest = name.dropFirst(4 + number.count)
        guard let call = Int(number), rest.hasPrefix("_"), rest.count > 1 else { return nil }
        return (call, String(rest.dropFirst()))
    }

    /// The path without the key under which KrakenD puts the answer; nil if nothing else is left.
    private static func inside(
        _ path: String, of call: Int, _ scope: KrakenDCall.Scope
    ) -> String? {
        guard let key = KrakenDCallNames.key(of: scope.nodes[call]) else { return path }
        guard path != key else { return nil }
        return path.hasPrefix(key + ".") ? String(path.dropFirst(key.count + 1)) : path
    }
}
