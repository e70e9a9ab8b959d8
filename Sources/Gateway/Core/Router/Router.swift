package import Basics
package import HTTP

/// Finds the endpoint for a method and a path.
///
/// Paths match segment by segment, and literals by their decoded text: `/a%2Fb` is one segment, and
/// a route for it is also written `/a%2Fb`. A literal takes precedence over a parameter with a suffix
/// (`{id}.json`), this over one without, and all over a `*`, if they lead to an endpoint with the
/// method. A parameter never matches an empty segment. HEAD goes to the
/// route of GET where no route is declared for it.
package struct Router {
    private let trie: RouteTrie

    /// The result of a search.
    package enum Match: Equatable {
        /// Its index in the plan.
        case endpoint(Int)
        /// 404
        case notFound
        /// 405, with the value of `Allow`: `GET, HEAD`.
        case methodNotAllowed(allow: FieldValue)
    }

    /// Endpoints in file order, each known by its index.
    package init(_ endpoints: [(route: Config.Route, index: Int)]) {
        var trie = RouteTrie()
        for endpoint in endpoints { trie.insert(endpoint.route, endpoint: endpoint.index) }
        self.trie = trie
    }

    /// - Parameter path: still encoded, as `Target.path` has it.
    package func match(_ method: Method, _ path: Bytes) -> Match {
        // Every route begins with a slash; `*` in `OPTIONS *` is not a path.
        guard path.span.count > 0, path[0] == UInt8(ascii: "/") else { return .notFound }
        var search = RouteSearch(method)
        if let endpoint = search.endpoint(
            path.span, in: trie, below: RouteTrie.root, from: PathSegments.start)
        {
            return .endpoint(endpoint)
        }
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

    /// - Parameter start: the offset of the first segment that is not matched yet
    mutating func endpoint(
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
