/// Which routes are a way around others: a path that the gateway gives to one endpoint, and that some
/// servers read as a path of another one, which has more protection.
struct RouteBypasses {
    private let endpoints: [Config.Endpoint]
    private let groups: [EndpointGroup?]
    private let protections: Protections

    init(_ config: Config) {
        endpoints = config.endpoints
        groups = endpoints.map { EndpointGroup($0) }
        protections = Protections(config)
    }

    /// For each endpoint, the indices of those that a path of its route could bypass.
    var all: [[Int]] { endpoints.indices.map(bypassed) }

    private func bypassed(by index: Int) -> [Int] {
        // Without a parameter or `*`, a path has only one spelling.
        guard let route = endpoints[index].route?.value, endpoints[index].acceptsUnusualSegments
        else { return [] }
        let usual = endpoints[index].usualParameters
        return endpoints.indices.filter { other in
            guard other != index, protections.has(other, moreThan: index), meets(index, other),
                let otherRoute = endpoints[other].route?.value,
                route.method.overlaps(otherRoute.method)
            else { return false }
            return RouteReading(of: route, usual, as: otherRoute).exists
        }
    }

    /// Whether a request for one endpoint could belong to the other one by its path alone: hosts and conditions
    /// are no matter of reading. A backend does not know the listener.
    private func meets(_ index: Int, _ other: Int) -> Bool {
        guard let group = groups[index], let otherGroup = groups[other] else { return false }
        return group.shape != otherGroup.shape && group.sharesPlaces(with: otherGroup)
    }
}

extension Config {
    /// For each endpoint, the indices of the endpoints that a path of its route could bypass where
    /// servers read it in different ways.
    package var bypassedEndpoints: [[Int]] { RouteBypasses(self).all }
}

/// Whether servers may read a path of one route as a path of another one.
///
/// In the reading of a server, a parameter may be several segments (`a%2Fb`), none (`;a`), or the end
/// of the path (`a%3Fb`). Literals stay what they are, without regard to case.
private struct RouteReading {
    private let source: [Config.Route.Segment]
    private let target: [Config.Route.Segment]
    /// The parameters of the source that every server reads as one segment.
    private let usual: Set<String>

    init(of source: Config.Route, _ usual: Set<String>, as target: Config.Route) {
        self.source = source.folded.segments
        self.target = target.folded.segments
        self.usual = usual
    }

    /// Where the reading has been compared up to.
    private struct State: Hashable {
        var source = 0
        var target = 0
        /// How many segments the current parameter of the source is: none, one, or more.
        var taken = 0
        /// Whether a parameter is not exactly one segment.
        var deviates = false
    }

    /// A path that both routes match belongs to the one that is declared more exactly.
    var exists: Bool {
        var seen: Set<State> = []
        var open = [State()]
        while let state = open.popLast() {
            guard seen.insert(state).inserted else { continue }
            if state.source == source.count, state.target == target.count,
                state.deviates || targetPrecedes
            {
                return true
            }
            open += next(state)
        }
        return false
    }

    private func next(_ state: State) -> [State] {
        var states: [State] = []
        if state.source < source.count {
            if let skipped = skipping(state) { states.append(skipped) }
            if let ended = ending(state) { states.append(ended) }
        }
        if state.target < target.count, case .rest = target[state.target] {
            var ended = state
            ended.target += 1
            states.append(ended)
        }
        if state.source < source.count, state.target < target.count,
            let taken = takingSegment(state)
        {
            states.append(taken)
        }
        return states
    }

    /// The end of a parameter or of `*`; nil where more segments are needed.
    private func skipping(_ state: State) -> State? {
        var next = state
        next.source += 1
        next.taken = 0
        switch source[state.source] {
        case .literal: return nil
        case .rest: return next
        case .parameter(let name):
            guard state.taken == 1 || !usual.contains(name) else { return nil }
            if state.taken != 1 { next.deviates = true }
            return next
        }
    }

    /// The end of the path within a parameter: `?` and `#` for servers that decode before they split.
    private func ending(_ state: State) -> State? {
        guard case .parameter(let name) = source[state.source], !usual.contains(name) else {
            return nil
        }
        return State(
            source: source.count, target: state.target, taken: 0, deviates: true)
    }

    private func takingSegment(_ state: State) -> State? {
        var next = state
        switch (source[state.source], target[state.target]) {
        case (.literal(let text), .literal(let other)):
            guard text == other else { return nil }
            next.source += 1
        case (.literal, _): next.source += 1
        case (.parameter(let name), _):
            guard state.taken == 0 || !usual.contains(name) else { return nil }
            next.taken = min(state.taken + 1, 2)
        case (.rest, _): break
        }
        if case .rest = target[state.target] { return next }
        next.target += 1
        return next
    }

    /// As in the router: a literal before a parameter, and both before `*`.
    private var targetPrecedes: Bool {
        for (segment, other) in zip(source, target) where segment.rank != other.rank {
            return other.rank < segment.rank
        }
        // What is left of the source is a `*` for no segment.
        return source.count > target.count
    }
}

extension Config.Route {
    /// The route for servers that ignore the case of ASCII letters and a slash at the end.
    package var folded: Config.Route {
        var folded = segments.map { segment -> Segment in
            guard case .literal(let text) = segment else { return segment }
            return .literal(Self.lowercased(text))
        }
        if folded.last == .literal("") { folded.removeLast() }
        return Config.Route(
            method: method, path: path, segments: folded, suffix: suffix.map { Self.lowercased($0) }
        )
    }

    private static func lowercased(_ text: String) -> String {
        String(decoding: Array(text.utf8).lowercasedASCII, as: UTF8.self)
    }

    /// The route where its `*` matches nothing; nil for a route without one.
    package var withoutRest: Config.Route? {
        guard hasRest else { return nil }
        return Config.Route(method: method, path: path, segments: segments.dropLast())
    }
}

extension Config.Route.Segment {
    /// The router's preference.
    fileprivate var rank: Int {
        switch self {
        case .literal: 0
        case .parameter: 1
        case .rest: 2
        }
    }
}

extension Config.Method {
    /// Whether a request can belong to routes with either method. A route of GET serves HEAD.
    fileprivate func overlaps(_ other: Config.Method) -> Bool {
        let both = [self, other]
        return self == other || both.contains(.any) || both == [.get, .head]
            || both == [.head, .get]
    }
}

extension Config.Endpoint {
    /// Whether a segment of its paths can be any text.
    fileprivate var acceptsUnusualSegments: Bool {
        guard let route = route?.value else { return false }
        return route.hasRest || !usualParameters.isSuperset(of: route.parameters)
    }

    /// Its parameters that servers read alike.
    fileprivate var usualParameters: Set<String> {
        Set(params.filter(\.hasUsualValues).map(\.name.value))
    }
}

extension Config.Param {
    /// Whether it accepts numbers, UUIDs and listed values only, so that servers read it alike.
    fileprivate var hasUsualValues: Bool {
        switch type?.value ?? .string {
        case .integer, .number, .boolean, .uuid: true
        case .string: !oneOf.isEmpty
        }
    }
}
