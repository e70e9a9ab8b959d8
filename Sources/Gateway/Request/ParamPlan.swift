import Basics
import HTTP

/// One parameter: where it comes from, what it must be, and what stands for it if it was not sent.
///
/// A class, so that looking at one for a request counts one reference and not ten.
final class ParamPlan {
    let name: String
    let source: Source
    let rule: ValueRule
    /// `default:`
    let fallback: Bytes?
    let isRequired: Bool

    enum Source {
        /// The segment of the path with this index.
        case path(segment: Int)
        case query(name: Bytes)
        case header(FieldName)
    }

    init(_ param: Config.Param, route: Config.Route) throws(PlanError) {
        name = param.name.value
        source = try Source(param, route)
        rule = try ValueRule(param.kind, param)
        fallback = param.fallback.map { Bytes($0.value) }
        isRequired = param.required?.value ?? false
    }

    /// A parameter of the path that nothing is said about is a string.
    private init(undeclared name: String, segment: Int) {
        self.name = name
        source = .path(segment: segment)
        rule = ValueRule(.string)
        fallback = nil
        isRequired = true
    }

    /// Those of an endpoint: first what only the route names, then `params:` in file order.
    static func all(
        of endpoint: Config.Endpoint, route: Config.Route
    ) throws(PlanError) -> [ParamPlan] {
        let params = endpoint.params
        var plans: [ParamPlan] = []
        for (index, segment) in route.segments.enumerated() {
            guard case .parameter(let name) = segment else { continue }
            if params.contains(where: { $0.name.value == name && $0.isInPath(of: route) }) {
                continue
            }
            plans.append(ParamPlan(undeclared: name, segment: index))
        }
        for param in params { plans.append(try ParamPlan(param, route: route)) }
        return plans
    }

    var location: RequestError.Location {
        switch source {
        case .path: .path
        case .query: .query
        case .header: .header
        }
    }

    /// Whether a value needs quotes in JSON; any other is JSON as it stands.
    var isTextual: Bool {
        switch rule.kind {
        case .string, .uuid: true
        case .integer, .wholeNumber, .number, .boolean: false
        }
    }
}

extension ParamPlan.Source {
    fileprivate init(
        _ param: Config.Param, _ route: Config.Route
    ) throws(PlanError) {
        let name = param.name.value
        if param.isInPath(of: route) {
            guard let segment = route.segments.firstIndex(of: .parameter(name)) else {
                throw PlanError("\(param.place): the route has no {\(name)}")
            }
            self = .path(segment: segment)
        } else if param.location?.value == .header {
            guard let field = FieldName(name) else {
                throw PlanError("\(param.place): '\(name)' is not a header name")
            }
            self = .header(field)
        } else {
            self = .query(name: Bytes(name))
        }
    }
}

extension Config.Param {
    fileprivate func isInPath(of route: Config.Route) -> Bool {
        location.map { $0.value == .path } ?? route.parameters.contains(name.value)
    }

    fileprivate var kind: ValueRule.Kind {
        switch type?.value {
        case .string, nil: .string
        case .integer: .integer
        case .number: .number
        case .boolean: .boolean
        case .uuid: .uuid
        }
    }
}
