import Basics
import HTTP

/// `rewrite` of `proxy`: paths of the backend, in the header fields of a response, become paths of the gateway.
struct ProxyRewrite {
    private let rewritesLocation: Bool
    private let rewritesCookies: Bool
    /// What the route's paths begin with, with a slash at its end: `/api/`.
    private let own: Bytes
    /// What the backend's paths begin with instead, one for each path of a URL, the longest first.
    private let theirs: [Bytes]
    /// `http://host:port` of the backend.
    private let origins: [Bytes]

    init(_ rules: [Config.Proxy.Rewrite], own: String, theirs: [String], origins: [String]) {
        rewritesLocation = rules.contains(.location)
        rewritesCookies = rules.contains(.cookies)
        self.own = Bytes(own)
        self.theirs = Set(theirs).sorted { ($1.utf8.count, $0) < ($0.utf8.count, $1) }
            .map { Bytes($0) }
        self.origins = Set(origins).sorted().map { Bytes($0) }
    }

    /// Changes the fields of a response.
    func apply(to fields: inout Fields) {
        if rewritesLocation, let value = fields.single("Location"),
            let changed = location(value.bytes)
        {
            fields.set("Location", changed)
        }
        guard rewritesCookies else { return }
        let lines = fields.all("Set-Cookie")
        guard !lines.isEmpty else { return }
        fields.removeAll("Set-Cookie")
        for line in lines { fields.append("Set-Cookie", cookie(line.bytes) ?? line) }
    }

    /// Nil for one that stays.
    func location(_ value: Bytes) -> FieldValue? {
        let path = origins.lazy.compactMap { value.path(after: $0) }.first ?? value
        guard !path.leadsElsewhere else { return nil }
        return replaced(path, folder: own).flatMap { FieldValue($0) }
    }

    /// The line of `Set-Cookie` with another `Path` (RFC 6265 4.1.2.4); nil for one that stays.
    func cookie(_ line: Bytes) -> FieldValue? {
        // Clients discard such a cookie with another path than `/`.
        guard !line.trimmed.hasPrefix(ignoringCase: "__Host-") else { return nil }
        let folder = own[0..<max(1, own.count - 1)]
        var changed: [UInt8] = []
        for (index, part) in line.parts(separatedBy: UInt8(ascii: ";")).enumerated() {
            if index > 0 { changed.append(UInt8(ascii: ";")) }
            guard index > 0, let path = part.cookiePath, let new = replaced(path, folder: folder)
            else {
                changed.append(part)
                continue
            }
            changed.append(literal: " Path=")
            changed.append(new)
        }
        return FieldValue(Bytes(changed))
    }

    /// The path with the beginning of the route's paths; nil for one that the backend's do not begin with, and
    /// for one that leads out of the route or to another host.
    ///
    /// - Parameter folder: in place of the backend's beginning without the slash at its end
    private func replaced(_ path: Bytes, folder: Bytes) -> Bytes? {
        for prefix in theirs {
            if path.hasPrefix(prefix) { return joined(own, path[prefix.count..<path.count]) }
            let end = prefix.count - 1
            if end > 0, path.hasPrefix(prefix[0..<end]) {
                let rest = path[end..<path.count]
                if rest.isEmpty || rest.begins(with: "?#") { return joined(folder, rest) }
            }
        }
        return nil
    }

    private func joined(_ start: Bytes, _ rest: Bytes) -> Bytes? {
        let path = Bytes(start.array + rest.array)
        let end = path.array.firstIndex { "?#".utf8.contains($0) } ?? path.count
        return path.leadsElsewhere || PathReading(of: path[0..<end].span) == .harmful ? nil : path
    }
}

extension ProxyRewrite: CustomStringConvertible {
    /// `Location and cookies, to /api/`
    var description: String {
        let fields = [rewritesLocation ? "Location" : nil, rewritesCookies ? "cookies" : nil]
        return "\(fields.compactMap(\.self).joined(separator: " and ")), to "
            + String(copying: own.span)
    }
}

extension Bytes {
    fileprivate func hasPrefix(_ prefix: Bytes) -> Bool {
        count >= prefix.count && self[0..<prefix.count] == prefix
    }

    fileprivate func hasPrefix(ignoringCase prefix: StaticString) -> Bool {
        let length = prefix.utf8CodeUnitCount
        return count >= length && self[0..<length].span.equalsIgnoringCase(prefix)
    }

    fileprivate func begins(with choices: String) -> Bool {
        first.map { choices.utf8.contains($0) } ?? false
    }

    private var first: UInt8? { isEmpty ? nil : span[0] }

    /// Whether a browser reads it as something else than a path of the same host: `//host`, which it also
    /// reads in `/\host` and with a tab between (URL Standard 4.4).
    fileprivate var leadsElsewhere: Bool {
        !begins(with: "/") || self[1..<count].begins(with: "/\\\t")
    }

    /// The path of a URL with this origin, `/` for an empty one; nil with another origin.
    fileprivate func path(after origin: Bytes) -> Bytes? {
        guard count >= origin.count, self[0..<origin.count].span.equalsIgnoringCase(origin.span)
        else { return nil }
        let rest = self[origin.count..<count]
        if rest.begins(with: "/") { return rest }
        return rest.isEmpty || rest.begins(with: "?#")
            ? Bytes([UInt8(ascii: "/")] + rest.array) : nil
    }

    /// The value of an attribute `Path`; nil for another attribute.
    fileprivate var cookiePath: Bytes? {
        let attribute = trimmed
        guard let equals = attribute.span.firstOffset(of: UInt8(ascii: "=")),
            attribute[0..<equals].trimmed.span.equalsIgnoringCase("Path")
        else { return nil }
        return attribute[(equals + 1)..<attribute.count].trimmed
    }
}
