import Reactor

/// Host names and addresses that public networks do not have.
package enum LocalName {
    /// Whether a name does not exist in public DNS, so that no foreign page can use it: a name
    /// without a dot, such as a service in a container network, or a name below a reserved domain,
    /// such as `gateway.shop.svc.cluster.local` in a cluster.
    ///
    /// - Parameter host: in lower case
    package static func isLocal(_ host: String) -> Bool {
        let labels = host.split(separator: ".", omittingEmptySubsequences: false)
        guard let last = labels.last, labels.allSatisfy(isLabel) else { return false }
        if labels.count == 1 { return !last.allSatisfy(\.isNumber) }
        return reserved.contains(String(last)) || host.hasSuffix(".home.arpa")
    }

    /// RFC 6761 (localhost, test), RFC 6762 (local), and ICANN's reservation of internal.
    private static let reserved: Set<String> = ["localhost", "test", "local", "internal"]

    private static func isLabel(_ label: Substring) -> Bool {
        !label.isEmpty
            && label.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                    UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }

    /// Whether a listener at a host can be reached from private networks only: a local name, or an address of
    /// RFC 1918, RFC 4193, or of a loopback or link-local network. All interfaces (0.0.0.0, ::) are not.
    static func isPrivate(_ host: String) -> Bool {
        guard let address = IPAddress(host) else { return isLocal(host.lowercased()) }
        return privateNetworks.contains { $0.contains(address) }
    }

    private static let privateNetworks = [
        "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "127.0.0.0/8", "::1",
        "fc00::/7", "fe80::/10",
    ].compactMap { try? AddressPrefix($0) }
}
