import Basics
import HTTP

/// Routes by host.
struct HostRoutes {
    /// Of the endpoints without hosts.
    private let others: RouteTrie
    /// By host, the index of its trie. Hosts with the same endpoints share one.
    private let hosts: HostTable?
    private let tries: [RouteTrie]

    init(_ entries: [Router.Entry]) {
        others = RouteTrie(entries.filter(\.hosts.isEmpty))
        var ofHosts: [(host: String, entries: [Int])] = []
        var numbers: [String: Int] = [:]
        for (index, entry) in entries.enumerated() {
            for host in Set(entry.hosts.map(HostSyntax.canonical)) {
                let number = numbers[host] ?? ofHosts.count
                if number == ofHosts.count {
                    numbers[host] = number
                    ofHosts.append((host, []))
                }
                ofHosts[number].entries.append(index)
            }
        }
        var tries: [RouteTrie] = []
        var known: [[Int]: Int] = [:]
        var table: [(host: String, value: Int)] = []
        for (host, indices) in ofHosts {
            if known[indices] == nil {
                known[indices] = tries.count
                tries.append(RouteTrie(indices.map { entries[$0] }))
            }
            table.append((host, known[indices] ?? 0))
        }
        self.tries = tries
        hosts = table.isEmpty ? nil : HostTable(table)
    }

    var usesHosts: Bool { hosts != nil }

    func match(_ method: Method, _ path: Bytes, _ authority: Bytes?) -> Router.Match {
        // Every route begins with a slash; `*` in `OPTIONS *` is not a path.
        guard path.span.count > 0, path[0] == UInt8(ascii: "/") else { return .notFound }
        var search = RouteSearch(method)
        if let hosts, let authority {
            let values = hosts.values(of: authority)
            for case let trie? in [values.exact, values.wildcard] {
                if let endpoint = search.endpoint(path.span, in: tries[trie]) {
                    return .endpoint(endpoint)
                }
            }
        }
        if let endpoint = search.endpoint(path.span, in: others) { return .endpoint(endpoint) }
        guard let first = search.refused.first else { return .notFound }
        return .methodNotAllowed(allow: search.refused.dropFirst().reduce(first, +).allow)
    }
}
