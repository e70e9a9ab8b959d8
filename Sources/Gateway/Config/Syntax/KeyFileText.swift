import JSONText

/// Writes entries of key files.
package enum KeyFileText {
    /// The lines of one entry, in YAML. Refuses values that reading the file would refuse.
    package static func entry(
        name: String, isBasic: Bool, hash: KeyHash, scopes: [String], expires: String?,
        plan: String?
    ) throws(Refusal) -> String {
        try check(name: name, isBasic: isBasic, scopes: scopes, expires: expires, plan: plan)
        var lines = ["- \(isBasic ? "user" : "id"): \(quoted(name))", "  hash: \"\(hash.text)\""]
        if !scopes.isEmpty {
            lines.append("  scopes: [\(scopes.map(quoted).joined(separator: ", "))]")
        }
        if let expires { lines.append("  expires: \(quoted(expires))") }
        if let plan { lines.append("  plan: \(quoted(plan))") }
        return lines.map { $0 + "\n" }.joined()
    }

    /// Refuses values that reading the file would refuse.
    package static func check(
        name: String, isBasic: Bool, scopes: [String], expires: String?, plan: String?
    ) throws(Refusal) {
        do throws(Refusal) {
            try KeyFileSyntax.check(callerName: name)
            if isBasic { try KeyFileSyntax.check(userName: name) }
        } catch {
            throw Refusal("the name \(fixed: error.message)")
        }
        for scope in scopes {
            do throws(Refusal) { try KeyFileSyntax.check(scope: scope) } catch {
                throw Refusal("the scope \(fixed: error.message)")
            }
        }
        if let expires {
            do throws(Refusal) { _ = try TimeText.unixTime(expires) } catch {
                throw Refusal("the time of --expires \(fixed: error.message)")
            }
        }
        if plan?.isEmpty == true { throw Refusal("the plan must not be empty") }
    }

    /// In quotes unless it is a word that YAML reads as a text.
    private static func quoted(_ text: String) -> String {
        let isWord =
            text.utf8.first.map { (0x61...0x7A).contains($0 | 0x20) } == true
            && text.utf8.allSatisfy {
                (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20)
                    || "-_.".utf8.contains($0)
            }
            && !["true", "false", "null", "yes", "no", "on", "off"].contains(text.lowercased())
        if isWord { return text }
        var json: [UInt8] = []
        json.append(jsonString: text)
        return String(decoding: json, as: UTF8.self)
    }
}

/// The syntax of the values of a key file.
enum KeyFileSyntax {
    /// Visible ASCII, so that it can be a header value and a word of a log line.
    static func check(callerName text: String) throws(Refusal) {
        guard (1...128).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else {
            throw Refusal("must have 1 to 128 visible ASCII characters, without spaces")
        }
    }

    /// The first colon of Basic credentials ends the name (RFC 7617, section 2).
    static func check(userName text: String) throws(Refusal) {
        try check(callerName: text)
        guard !text.contains(":") else { throw Refusal("must not contain a colon") }
    }

    /// A scope token of RFC 6749, section 3.3.
    static func check(scope text: String) throws(Refusal) {
        let isToken = text.utf8.allSatisfy {
            (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
        }
        guard !text.isEmpty, isToken else {
            throw Refusal("must be a scope: visible ASCII characters, without spaces, \" and \\")
        }
    }
}
