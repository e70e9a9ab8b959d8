package import Basics
package import HTTP

/// Finds the endpoint for a method and a path.
///
/// Paths match segment by segment, and literals by their decoded text: `/a%2Fb` is one segment, and
/// a route for it is also written `/a%2Fb`. A literal takes precedence over a parameter with a suffix
/// (`{id}.json`), this over one without, and all over a `*`, if they lead to an endpoint with the
/// method. A parameter never matches an empty segment. HEAD goes to the
/// route of GET where no route is declared for it.
///
/// Routes of the exact host go first, then routes of `*.name`, then routes of any host, as far as they
/// lead to an endpoint with the method. Of two that are the same but for the listener, the one that is
/// restricted to it goes first; a route that is restricted to another listener is a 404, also where a less
/// exact one has the path.
package struct Router {
    private let sites: Listener
    /// By the address of the listener; empty if no route is restricted to one.
    private let ofListeners: [(listener: String, sites: Listener)]

    /// The result of a search.
    package enum Match: Equatable {
        /// Its index in the plan.
        case endpoint(Int)
        /// 404
        case notFound
        /// 405, with the value of `Allow`: `GET, HEAD`.
        case methodNotAllowed(allow: FieldValue)
    }

    /// What the router knows of an endpoint.
    package struct Entry {
        package var route: Config.Route
        /// In the plan.
        package let index: Int
        /// As in the configuration; empty for all.
        package var hosts: [String] = []
        /// The address of its listener; nil for all.
        package var listener: String?

        package init(
            _ route: Config.Route, _ index: Int, hosts: [String] = [], listener: String? = nil
        ) {
            self.route = route
            self.index = index
            self.hosts = hosts
            self.listener = listener
        }
    }

    /// - Parameter entries: of two for the same route, hosts and listener the first one counts
    package init(_ entries: [Entry]) {
        sites = Listener(nil, entries)
        ofListeners = Set(entries.compactMap(\.listener)).map { ($0, Listener($0, entries)) }
    }

    /// Whether the place of a request matters.
    package var usesPlaces: Bool { !ofListeners.isEmpty || sites.usesHosts }

    /// - Parameters:
    ///   - path: still encoded, as `Target.path` has it
    ///   - place: where the request arrives; matters only with `usesPlaces`
    package func match(
        _ method: Method, _ path: Bytes, at place: RequestPlace = RequestPlace()
    ) -> Match {
        if !ofListeners.isEmpty, let listener = place.listener,
            let entry = ofListeners.first(where: { $0.listener == listener })
        {
            return entry.sites.match(method, path, place.authority)
        }
        return sites.match(method, path, place.authority)
    }
}

/// The routes of one listener.
private struct Listener {
    /// Without the routes of other listeners.
    private let own: Sites
    /// With them, behind its own; nil if there are none.
    private let all: Sites?
    /// The indices of the routes of other listeners.
    private let foreign: Set<Int>

    /// - Parameter name: nil for a listener that no route is restricted to
    init(_ name: String?, _ entries: [Router.Entry]) {
        let unrestricted = entries.filter { $0.listener == nil }
        let restricted = name == nil ? [] : entries.filter { $0.listener == name }
        let others = entries.filter { $0.listener != nil && $0.listener != name }
        own = Sites(restricted + unrestricted)
        all = others.isEmpty ? nil : Sites(restricted + unrestricted + others)
        foreign = Set(others.map(\.index))
    }

    var usesHosts: Bool { own.usesHosts }

    func match(_ method: Method, _ path: Bytes, _ authority: Bytes?) -> Router.Match {
        if let all, case .endpoint(let index) = all.match(method, path, authority),
            foreign.contains(index)
        {
            return .notFound
        }
        return own.match(method, path, authority)
    }
}

/// Routes by host.
private struct Sites {
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

/// One search in the trie.
///
/// It visits no node twice and goes at most as deep as the longest route, so the routes bound the
/// cost of a hostile path. It does not hold the trie and the path: a copy of them would count
/// references.
private struct RouteSearch: ~Copyable {
    let method: Method
    /// The methods of the matching paths that do not have the requested method.
    var refused: [RouteMethods] = []

    init(_ method: Method) {
        self.method = method
    }

    mutating func endpoint(_ path: Span<UInt8>, in trie: RouteTrie) -> Int? {
        endpoint(path, in: trie, below: RouteTrie.root, from: PathSegments.start)
    }

    /// - Parameter start: the offset of the first segment that is not matched yet
    private mutating func endpoint(
        _ path: Span<UInt8>, in trie: RouteTrie, below node: Int, from start: Int
    ) -> Int? {
        guard let segment = PathSegments.range(in: path, from: start) else {
            return endpoint(in: trie, at: node)
        }
        let rest = segment.upperBound + 1
        if let literal = trie.literal(path.extracting(segment), below: node),
            let endpoint = endpoint(path, in: trie, below: literal, from: rest)
        {
            return endpoint
        }
        if trie.hasSuffixes(below: node), PathSegments.range(in: path, from: rest) == nil {
            for suffix in trie.suffixes(of: path.extracting(segment), below: node) {
                if let endpoint = endpoint(in: trie, at: suffix) { return endpoint }
            }
        }
        if !segment.isEmpty, let parameter = trie.parameter(below: node),
            let endpoint = endpoint(path, in: trie, below: parameter, from: rest)
        {
            return endpoint
        }
        return endpointOfRest(in: trie, below: node)
    }

    private mutating func endpoint(in trie: RouteTrie, at node: Int) -> Int? {
        if let endpoint = trie.endpoint(for: method, at: node) { return endpoint }
        refuse(trie.methods(at: node))
        return nil
    }

    private mutating func endpointOfRest(in trie: RouteTrie, below node: Int) -> Int? {
        if let endpoint = trie.endpointOfRest(for: method, below: node) { return endpoint }
        refuse(trie.rest(below: node))
        return nil
    }

    private mutating func refuse(_ methods: RouteMethods) {
        if !methods.isEmpty { refused.append(methods) }
    }
}
