import Basics
package import HTTP

/// Decides which paths an endpoint refuses because servers read them in different ways.
///
/// Built once per plan and worker. A request of an endpoint without a rule costs one look-up.
package struct PathRules {
    /// By endpoint; nil where no path is refused.
    private let rules: [PathRulePlan?]
    /// By endpoint, the bytes of the suffix that follows the parameter at the end of its route.
    private let suffixCounts: [Int]
    /// Nil if no endpoint could bypass another one.
    private let folded: FoldedRouter?

    package init(_ plan: Plan) {
        rules = plan.endpoints.map(\.paths)
        suffixCounts = plan.endpoints.map { $0.route.suffix?.utf8.count ?? 0 }
        let bypassed = Set(rules.compactMap { $0?.bypassed }.joined())
        folded = bypassed.isEmpty ? nil : FoldedRouter(plan, first: bypassed)
    }

    /// Whether the endpoint, which the router has found, refuses the path of a request.
    package func refuse(_ head: RequestHead, at endpoint: Int) -> Bool {
        guard let rule = rules.span[endpoint] else { return false }
        let path = head.target.path
        if PathReading(of: path.span) != .plain { return true }
        let suffixCount = suffixCounts[endpoint]
        // The backend may get what stands before the suffix.
        if suffixCount > 0, PathReading(of: path.removing(suffix: suffixCount).span) != .plain {
            return true
        }
        guard let folded, !rule.bypassed.isEmpty else { return false }
        return folded.endpoints(of: head, suffixCount: suffixCount).contains {
            rule.bypassed.contains($0)
        }
    }
}

/// Finds the endpoints that a path without unusual spellings belongs to for servers that ignore the
/// case of letters, a slash at the end, or the extension of a name (`/admin.json`).
private struct FoldedRouter {
    private let router: Router
    /// By endpoint.
    private let endsWithLiteral: [Bool]
    /// By endpoint, itself and the endpoints for the same hosts whose routes differ only in what is ignored,
    /// such as the endpoints of a route with conditions.
    private let alike: [[Int]]

    /// - Parameter preferred: of routes that differ only in what is ignored, these are found
    init(_ plan: Plan, first preferred: Set<Int>) {
        let endpoints = plan.endpoints
        endsWithLiteral = endpoints.map {
            if case .literal = $0.route.segments.last { true } else { false }
        }
        let keys = endpoints.map { Self.key($0) }
        let byKey = Dictionary(grouping: endpoints.indices) { keys[$0] }
        alike = keys.map { byKey[$0] ?? [] }
        let order =
            endpoints.filter { preferred.contains($0.index) }
            + endpoints.filter { !preferred.contains($0.index) }
        // A `*` that matches nothing comes behind a route that ends there.
        router = Router(
            order.map { Self.entry($0, $0.route.folded) }
                + order.compactMap { endpoint in
                    endpoint.route.folded.withoutRest.map { Self.entry(endpoint, $0) }
                })
    }

    /// What the router tells apart.
    private static func key(_ endpoint: EndpointPlan) -> [String] {
        let route = endpoint.route.folded
        let path = route.segments.map { segment in
            switch segment {
            case .literal(let text): "/\(text)"
            case .parameter: "{}"
            case .rest: "*"
            }
        }
        return ["\(route.method)"] + path + [route.suffix ?? ""]
            + Set(endpoint.matching.hosts.map { HostSyntax.canonical($0) }).sorted()
    }

    /// For all listeners: the backend does not know where a request arrived.
    private static func entry(_ endpoint: EndpointPlan, _ route: Config.Route) -> Router.Entry {
        var entry = Router.Entry(endpoint, route: route)
        entry.listener = nil
        return entry
    }

    /// - Parameters:
    ///   - head: with a path that is plain, so that its escapes hide neither a slash nor an escape
    ///   - suffixCount: the bytes at its end that its route has as a suffix
    func endpoints(of head: RequestHead, suffixCount: Int) -> [Int] {
        let path = head.target.path
        let place = RequestPlace(authority: head.authority)
        func endpoint(_ text: [UInt8]) -> Int? {
            guard case .endpoint(let index) = router.match(head.method, Bytes(text), at: place)
            else { return nil }
            return index
        }
        var text = (path.percentDecoded() ?? path).array.lowercasedASCII
        if text.count > 1, text.last == UInt8(ascii: "/") { text.removeLast() }
        let name = Array(text.dropLast(suffixCount))
        let shorter = [text.withoutExtension, suffixCount > 0 ? name : nil, name.withoutExtension]
            .compactMap { text in text.flatMap { endpoint($0) } }
        // `{id}.json` and `{id}` are different routes by intention.
        let found =
            [endpoint(text)].compactMap(\.self)
            + shorter.filter { suffixCount == 0 || endsWithLiteral[$0] }
        return found.flatMap { alike[$0] }
    }
}

extension [UInt8] {
    /// A path without the extension of its last segment; nil without one.
    fileprivate var withoutExtension: [UInt8]? {
        let start = (lastIndex(of: UInt8(ascii: "/")) ?? 0) + 1
        guard let dot = lastIndex(of: UInt8(ascii: ".")), dot > start else { return nil }
        return Array(self[..<dot])
    }
}
