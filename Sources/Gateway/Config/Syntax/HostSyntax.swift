import Reactor

/// The syntax of `hosts`.
package enum HostSyntax {
    /// A name, or an address without brackets.
    package static func check(_ text: String) throws(Refusal) {
        // An IPv6 address has brackets only if a port follows.
        guard !text.hasPrefix("[") else {
            throw Refusal("must be an address without brackets")
        }
        guard !text.contains(":") || URLSyntax.isIPv6(text[...]) else {
            throw Refusal("must be a name or an address, without scheme and port")
        }
        if !text.contains(":") { _ = try URLSyntax.host(text[...]) }
    }

    /// The form that is compared: in lower case; an IPv6 address in brackets.
    ///
    /// - Parameter host: a name, an address without brackets, or the result for one of them
    package static func canonical(_ host: String) -> String {
        guard host.contains(":"), !host.hasPrefix("[") else { return host.lowercased() }
        return "[\(IPAddress(host)?.description ?? host.lowercased())]"
    }

    /// Whether a host can belong to both of two hosts of a configuration, which are canonical.
    static func overlap(_ host: String, _ other: String) -> Bool {
        func covers(_ pattern: String, _ name: String) -> Bool {
            pattern.hasPrefix("*.") && name.drop { $0 != "." } == pattern.dropFirst()
        }
        return host == other || covers(host, other) || covers(other, host)
    }

    /// A host that a host of a configuration is for, as `Host` has it.
    package static func sample(of host: String) -> String {
        canonical(host.hasPrefix("*.") ? "www" + host.dropFirst() : host)
    }
}
