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
/// exact one has the path and the method.
package struct Router {
    /// Of the listeners that no route is restricted to.
    private let common: ListenerRoutes
    /// Of the others, each by its address.
    private let restricted: [(listener: String, routes: ListenerRoutes)]

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
        common = ListenerRoutes(nil, entries)
        restricted = Set(entries.compactMap(\.listener)).map { ($0, ListenerRoutes($0, entries)) }
    }

    /// Whether the place of a request matters.
    package var usesPlaces: Bool { !restricted.isEmpty || common.usesHosts }

    /// - Parameters:
    ///   - path: still encoded, as `Target.path` has it
    ///   - place: where the request arrives; matters only with `usesPlaces`
    package func match(
        _ method: Method, _ path: Bytes, at place: RequestPlace = RequestPlace()
    ) -> Match {
        if !restricted.isEmpty, let listener = place.listener,
            let entry = restricted.first(where: { $0.listener == listener })
        {
            return entry.routes.match(method, path, place.authority)
        }
        return common.match(method, path, place.authority)
    }
}
