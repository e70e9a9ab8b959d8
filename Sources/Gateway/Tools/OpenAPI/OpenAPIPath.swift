/// One path of the description, with its endpoints.
///
/// Two routes that differ only in the names of their parameters are one path in OpenAPI, with the
/// names of the first route.
struct OpenAPIPath {
    /// `/products/{id}`
    let text: String

    /// By index in the plan, with the names that their parameters have in `text`.
    private(set) var endpoints: [(index: Int, spelled: [String: String])]

    private let segments: [Config.Route.Segment]
    private let suffix: String?

    /// The name of the parameter in place of `*`.
    private let rest: String

    /// In the order of their first occurrence in the file.
    static func all(of endpoints: [EndpointPlan]) -> [OpenAPIPath] {
        var paths: [OpenAPIPath] = []
        for endpoint in endpoints {
            let route = endpoint.route
            if let known = paths.firstIndex(where: { $0.matches(route) }) {
                paths[known].endpoints.append((endpoint.index, paths[known].names(for: route)))
            } else {
                paths.append(
                    OpenAPIPath(
                        text: route.describedPath, endpoints: [(endpoint.index, [:])],
                        segments: route.segments, suffix: route.suffix, rest: rest(of: route)))
            }
        }
        return paths
    }

    private func matches(_ route: Config.Route) -> Bool {
        segments.count == route.segments.count && suffix == route.suffix
            && zip(segments, route.segments).allSatisfy { own, other in
                switch (own, other) {
                case (.parameter, .parameter): true
                case (.literal(let own), .literal(let other)): own == other
                case (.rest, .rest): true
                case (.parameter, _), (.literal, _), (.rest, _): false
                }
            }
    }

    private func names(for route: Config.Route) -> [String: String] {
        var names: [String: String] = [:]
        if route.hasRest { names[OpenAPIPath.rest] = rest }
        for case (.parameter(let own), .parameter(let other)) in zip(segments, route.segments) {
            names[other] = own
        }
        return names
    }

    /// The methods that endpoints of this path define.
    func methods(_ plans: [EndpointPlan]) -> [Config.Method] {
        endpoints.map { plans[$0.index].route.method }
    }

    /// Whether no endpoint of this path defines HEAD itself.
    func isHeadFree(_ plans: [EndpointPlan]) -> Bool {
        !endpoints.contains { plans[$0.index].route.method == .head }
    }
}

extension Config.Route {
    /// The path with a parameter for the `*`, which OpenAPI does not have.
    fileprivate var describedPath: String {
        hasRest ? "\(path.dropLast())\u{7B}\(OpenAPIPath.rest(of: self))\u{7D}" : path
    }
}

extension OpenAPIPath {
    /// The segment in place of which `text` has a parameter.
    static let rest = "*"

    /// The name of the parameter for the rest of a path, which no other parameter of the route has.
    static func rest(of route: Config.Route) -> String {
        var name = "rest"
        while route.parameters.contains(name) { name += "_" }
        return name
    }
}
