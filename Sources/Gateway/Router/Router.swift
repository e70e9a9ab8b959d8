import Basics
import HTTP

/// Finds the endpoint that a method and a path are for.
///
/// Paths match segment by segment, and literals by what they mean: `/a%2Fb` is one segment, which a
/// route writes the same way. A literal beats a parameter, but only if it leads to an endpoint with
/// the method; a parameter never stands for an empty segment. HEAD goes to the route of GET where
/// no route is declared for it.
struct Router {
    private let trie: RouteTrie

    /// What a request is for.
    enum Match: Equatable {
        /// Its index in the plan.
        case endpoint(Int)
        /// 404
        case notFound
        /// 405, with what `Allow` says: `GET, HEAD`.
        case methodNotAllowed(allow: FieldValue)
    }

    /// The routes of all endpoints in the plan's order, which is that of the file.
    init(_ routes: [Config.Route]) {
        var trie = RouteTrie()
        for (index, route) in routes.enumerated() { trie.insert(route, endpoint: index) }
        self.trie = trie
    }

    func match(_ head: RequestHead) -> Match {
        // The `*` of `OPTIONS *` is no path.
        if head.target.form == .asterisk { return .notFound }
        var search = RouteSearch(trie: trie, method: head.method)
        if let endpoint = search.endpoint(below: RouteTrie.root, head.target.segments) {
            return .endpoint(endpoint)
        }
        guard let first = search.refused.first else { return .notFound }
        return .methodNotAllowed(allow: search.refused.dropFirst().reduce(first, +).allow)
    }
}

/// One walk through the trie.
///
/// It visits no node twice and goes as deep as the longest route, so a hostile path costs no more
/// than the routes that the operator wrote.
private struct RouteSearch {
    let trie: RouteTrie
    let method: Method
    /// What can be done at the paths that match, where the method is not among it.
    var refused: [RouteMethods] = []

    init(trie: RouteTrie, method: Method) {
        self.trie = trie
        self.method = method
    }

    mutating func endpoint(below node: Int, _ path: PathSegments) -> Int? {
        var rest = path
        guard let segment = rest.next() else { return endpoint(at: node) }
        if let literal = trie.literal(segment, below: node),
            let endpoint = endpoint(below: literal, rest)
        {
            return endpoint
        }
        guard !segment.isEmpty, let parameter = trie.parameter(below: node) else { return nil }
        return endpoint(below: parameter, rest)
    }

    private mutating func endpoint(at node: Int) -> Int? {
        if let endpoint = trie.endpoint(for: method, at: node) { return endpoint }
        let methods = trie.methods(at: node)
        if !methods.isEmpty { refused.append(methods) }
        return nil
    }
}
