import Basics
import HTTP

/// One search in the trie.
///
/// It visits no node twice and goes at most as deep as the longest route, so the routes bound the
/// cost of a hostile path. It does not hold the trie and the path: a copy of them would count
/// references.
struct RouteSearch: ~Copyable {
    private let method: Method
    /// The methods of the matching paths that do not have the requested method.
    private(set) var refused: [RouteMethods] = []

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
