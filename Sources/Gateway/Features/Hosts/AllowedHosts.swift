import Basics
package import HTTP

/// `hosts`: the hosts that requests may name. A request for another one is misdirected (RFC 9110
/// 15.5.20); that also stops web pages that reach the gateway by DNS rebinding.
package final class AllowedHosts {
    private let hosts: HostTable
    /// As they are configured.
    package let text: String
    /// A host for each of them, as `Host` has it.
    let samples: [String]

    /// Nil if every host is allowed.
    ///
    /// - Parameter text: the hosts as the configuration has them; nil for their names
    package init?(_ names: [String], text: String? = nil) {
        guard !names.isEmpty else { return nil }
        hosts = HostTable(names.map { ($0, 0) })
        samples = names.map { HostSyntax.sample(of: $0) }
        self.text = text ?? names.joined(separator: ", ")
    }

    /// A request without a host, which HTTP/1.0 permits, names none of them.
    package func accepts(_ head: RequestHead) -> Bool {
        guard let authority = head.authority else { return false }
        let values = hosts.values(of: authority)
        return values.exact != nil || values.wildcard != nil
    }
}
