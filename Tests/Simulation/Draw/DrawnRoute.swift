import Rehearsal

/// Which requests of a path an endpoint handles. A path has one main endpoint; others, which stand before it in the
/// file, have a condition, a listener, or another last segment.
struct DrawnRoute {
    /// The index of the main endpoint, whose number is the first segment of the path.
    let main: Int
    var ending = Ending.usual
    /// The name of its listener; nil for all.
    var listener: String?
    var when: DrawnCondition?

    /// The last segment of the path.
    enum Ending {
        case usual
        /// `{id}.json`
        case suffix
        /// `all.json`
        case literal
    }

    static let suffix = ".json"
    static let literal = "all.json"

    /// Whether it differs from another one only in its condition.
    func isBeside(_ other: DrawnRoute) -> Bool {
        main == other.main && ending == other.ending && listener == other.listener
    }
}

extension DrawnConfig {
    /// The name of a listener.
    ///
    /// - Parameter index: among the listeners behind the first one; nil for the first one
    static func listenerName(_ index: Int?) -> String { "l\(index.map { $0 + 1 } ?? 0)" }

    /// The endpoints in the order of the file.
    var endpointsInOrder: [DrawnEndpoint] {
        let main = endpoints.filter(\.isMain)
        return main.flatMap { main in
            endpoints.filter { $0.route.main == main.index && !$0.isMain } + [main]
        }
    }

    /// The endpoints that differ from one only in their conditions, in the order of the file.
    func endpoints(beside endpoint: DrawnEndpoint) -> [DrawnEndpoint] {
        endpointsInOrder.filter { $0.route.isBeside(endpoint.route) }
    }
}

/// Draws several endpoints for one path, and what requests have for them.
struct RouteDraw {
    let random: RandomSource
    /// The names of the listeners that serve endpoints; empty if there is only one.
    var listeners: [String] = []

    /// A header that only conditions of endpoints use.
    static let header = "X-Variant"

    /// The route of the main endpoint of a path.
    func main(_ index: Int) -> DrawnRoute {
        DrawnRoute(main: index, listener: listener(random.derived("main", index)))
    }

    /// The routes of the other endpoints of its path.
    func others(beside main: DrawnEndpoint) -> [DrawnRoute] {
        let random = random.derived("others", main.index)
        var routes: [DrawnRoute] = []
        if random.chance(0.12) {
            for index in 0..<random.pick([1, 1, 2]) {
                var route = main.route
                route.when =
                    ConditionDraw(
                        random: random.derived("condition", index), params: main.params,
                        reads: .route
                    ).condition()
                routes.append(route)
            }
        }
        if main.route.listener == nil, let name = listener(random.derived("listener")) {
            routes.append(DrawnRoute(main: main.index, listener: name))
        }
        let ending = random.derived("ending")
        guard main.hasID, ending.chance(0.15) else { return routes }
        let endings: [DrawnRoute.Ending] = ending.chance(0.5) ? [.suffix, .literal] : [.suffix]
        return routes
            + endings.map { drawn in
                DrawnRoute(
                    main: main.index, ending: drawn,
                    listener: listener(ending.derived("listener", drawn == .suffix ? 0 : 1)))
            }
    }

    private func listener(_ random: RandomSource) -> String? {
        listeners.isEmpty || !random.chance(0.2) ? nil : random.pick(listeners)
    }

    /// Adds what the endpoints of a path differ in.
    func complete(_ request: inout ScriptedRequest, _ config: DrawnConfig) {
        let routes = config.endpoints.map(\.route).filter { $0.main == request.endpoint }
        if routes.contains(where: { $0.when != nil }), random.chance(0.7) {
            let values = random.pick([["a"], ["a"], ["b"], ["c"], ["a", "b"]])
            request.headers += values.map { (Self.header, $0) }
        }
        guard let id = request.id, routes.contains(where: { $0.ending != .usual }) else { return }
        let ending = random.derived("ending")
        guard ending.chance(0.7) else { return }
        request.id = ending.pick([
            id + DrawnRoute.suffix, id + DrawnRoute.suffix, DrawnRoute.literal, DrawnRoute.suffix,
            id + ".JSON", id + ".json.json", "..json",
        ])
    }
}
