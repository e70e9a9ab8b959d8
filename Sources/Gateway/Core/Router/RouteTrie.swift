import Basics
import HTTP

/// The routes as a tree of path segments.
///
/// The literals below a node are sorted and found by binary search: a thousand of them cost ten
/// comparisons, and there is no hash table in which a hostile client could cause collisions.
struct RouteTrie {
    static let root = 0

    private struct Node {
        /// In the order of their bytes.
        var literals: [Branch] = []
        var parameter: Int?
        /// Of parameters with a suffix, which end a path; the longest suffix first.
        var suffixes: [Branch] = []
        var methods = RouteMethods()
        /// Of the routes that match all paths below it.
        var rest = RouteMethods()
    }

    private struct Branch {
        /// Decoded: a whole segment, or a suffix.
        let literal: Bytes
        let node: Int
    }

    private var nodes = [Node()]

    /// - Parameter entries: of two for the same route the first one counts
    init(_ entries: [Router.Entry]) {
        for entry in entries { insert(entry.route, endpoint: entry.index) }
    }

    private mutating func insert(_ route: Config.Route, endpoint: Int) {
        var node = RouteTrie.root
        // The path `/` has one segment, which is empty.
        let segments = route.segments.isEmpty ? [.literal("")] : route.segments
        for (index, segment) in segments.enumerated() {
            switch segment {
            case .literal(let text): node = addLiteral(Bytes(text), below: node)
            case .parameter: node = addParameter(with: route.suffix(ofSegment: index), below: node)
            case .rest: break
            }
        }
        if route.hasRest {
            nodes[node].rest.add(route.method, endpoint: endpoint)
        } else {
            nodes[node].methods.add(route.method, endpoint: endpoint)
        }
    }

    /// - Parameter segment: still encoded.
    func literal(_ segment: Span<UInt8>, below node: Int) -> Int? {
        if nodes[node].literals.isEmpty { return nil }
        guard segment.firstOffset(of: UInt8(ascii: "%")) == nil else {
            return Bytes(copying: segment).percentDecoded().flatMap {
                literal(decoded: $0.span, below: node)
            }
        }
        return literal(decoded: segment, below: node)
    }

    private func literal(decoded segment: Span<UInt8>, below node: Int) -> Int? {
        let (index, isFound) = position(of: segment, below: node)
        return isFound ? nodes[node].literals[index].node : nil
    }

    /// The endpoint of the routes that end at a node.
    func endpoint(for method: Method, at node: Int) -> Int? {
        nodes.span[node].methods.endpoint(for: method)
    }

    /// The endpoint of the routes that match everything below a node.
    func endpointOfRest(for method: Method, below node: Int) -> Int? {
        nodes.span[node].rest.endpoint(for: method)
    }

    func parameter(below node: Int) -> Int? { nodes[node].parameter }

    func hasSuffixes(below node: Int) -> Bool { !nodes.span[node].suffixes.isEmpty }

    /// The nodes of the suffixes that a segment ends with behind at least one byte, the longest first.
    ///
    /// - Parameter segment: still encoded
    func suffixes(of segment: Span<UInt8>, below node: Int) -> [Int] {
        guard let decoded = Bytes(copying: segment).percentDecoded() else { return [] }
        return nodes[node].suffixes.compactMap { branch in
            let start = decoded.count - branch.literal.count
            return start > 0 && decoded[start..<decoded.count] == branch.literal ? branch.node : nil
        }
    }

    func methods(at node: Int) -> RouteMethods { nodes[node].methods }

    /// The routes that match everything below a node.
    func rest(below node: Int) -> RouteMethods { nodes[node].rest }

    private mutating func addLiteral(_ literal: Bytes, below node: Int) -> Int {
        let (index, isFound) = position(of: literal.span, below: node)
        if isFound { return nodes[node].literals[index].node }
        nodes[node].literals.insert(Branch(literal: literal, node: nodes.count), at: index)
        return addNode()
    }

    private mutating func addParameter(with suffix: String?, below node: Int) -> Int {
        if let suffix { return addSuffix(Bytes(suffix), below: node) }
        if let parameter = nodes[node].parameter { return parameter }
        nodes[node].parameter = nodes.count
        return addNode()
    }

    private mutating func addSuffix(_ suffix: Bytes, below node: Int) -> Int {
        if let known = nodes[node].suffixes.first(where: { $0.literal == suffix }) {
            return known.node
        }
        let index =
            nodes[node].suffixes.firstIndex { $0.literal.count < suffix.count }
            ?? nodes[node].suffixes.count
        nodes[node].suffixes.insert(Branch(literal: suffix, node: nodes.count), at: index)
        return addNode()
    }

    private mutating func addNode() -> Int {
        nodes.append(Node())
        return nodes.count - 1
    }

    /// The index of a literal among its siblings, or the index to insert it at.
    private func position(
        of literal: Span<UInt8>, below node: Int
    ) -> (index: Int, isFound: Bool) {
        var (low, high) = (0, nodes[node].literals.count)
        while low < high {
            let middle = (low + high) / 2
            let sibling = nodes[node].literals[middle].literal
            switch sibling.span.order(to: literal) {
            case 0: return (middle, true)
            case ..<0: low = middle + 1
            default: high = middle
            }
        }
        return (low, false)
    }
}

extension Span<UInt8> {
    /// Negative if these bytes sort before the others, zero if they are equal.
    fileprivate func order(to other: Span<UInt8>) -> Int {
        for index in 0..<Swift.min(count, other.count) where self[index] != other[index] {
            return Int(self[index]) - Int(other[index])
        }
        return count - other.count
    }
}
