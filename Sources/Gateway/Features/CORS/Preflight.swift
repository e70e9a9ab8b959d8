import Basics
package import HTTP
import Promises

/// Responds to CORS preflights before any other part of an endpoint, authentication included: a
/// browser sends them without credentials (Fetch standard, CORS-preflight fetch).
package final class Preflight {
    private let router: Router
    /// By endpoint.
    private let rules: [CORSRules?]
    /// By endpoint: whether its route is one for OPTIONS.
    private let isForOptions: [Bool]
    /// The rules of `defaults`, for a method without a route.
    private let others: CORSRules?

    package init(_ plan: Plan) {
        router = Router(plan.endpoints.map { (route: $0.route, index: $0.index) })
        rules = plan.endpoints.map(\.cors)
        isForOptions = plan.endpoints.map { $0.route.method == .options }
        others = plan.entry.headers?.cors
    }

    var filter: Filter<Request, Response> {
        Filter { next in
            Service { [self] request, context in
                guard request.head.method == .options, let response = response(to: request.head)
                else { return next(request, context) }
                return context.local.value(response)
            }
        }
    }

    /// Nil for a request that is not a preflight, and for one of a path without CORS rules: the
    /// routes respond to it.
    package func response(to head: RequestHead) -> Response? {
        guard let origin = head.fields[.origin],
            let wanted = head.fields[.requestMethod].flatMap({ Method($0.bytes.span) })
        else { return nil }
        let path = head.target.path
        // A route for OPTIONS takes precedence; one for every method does not.
        if case .endpoint(let index) = router.match(.options, path), isForOptions[index] {
            return nil
        }
        let selected: CORSRules?
        switch router.match(wanted, path) {
        case .endpoint(let index): selected = rules[index]
        case .methodNotAllowed: selected = others
        case .notFound: return nil
        }
        guard let selected else { return nil }
        return Response(status: .noContent, fields: fields(selected, origin, path))
    }

    /// An origin that is not allowed gets none of the fields, so that the browser refuses the
    /// request.
    private func fields(_ rules: CORSRules, _ origin: FieldValue, _ path: Bytes) -> Fields {
        var fields = Self.varying
        guard rules.allows(origin.bytes) else { return fields }
        fields.append(.allowOrigin, rules.stated(origin))
        if let methods = methods(of: path, with: rules) { fields.append(.allowMethods, methods) }
        fields.append(rules.preflightGrant)
        return fields
    }

    private static let varying: Fields = [
        .vary: "Origin, Access-Control-Request-Method, Access-Control-Request-Headers"
    ]

    /// The methods of the path with these rules: browsers cache the permission for all of them.
    private func methods(of path: Bytes, with rules: CORSRules) -> FieldValue? {
        let names = Self.methods.filter { method in
            guard case .endpoint(let index) = router.match(method, path) else { return false }
            return self.rules[index] === rules
        }.map(\.description)
        return names.isEmpty ? nil : FieldValue(names.joined(separator: ", "))
    }

    /// The methods of routes, without OPTIONS: a route for it responds itself.
    private static let methods: [Method] = [.get, .head, .post, .put, .patch, .delete]
}
