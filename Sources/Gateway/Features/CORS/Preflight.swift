import Basics
package import HTTP
import Promises

/// Responds to CORS preflights before any other part of an endpoint, authentication included: a
/// browser sends them without credentials (Fetch standard, CORS-preflight fetch).
package final class Preflight {
    private let finder: EndpointFinder
    /// By endpoint.
    private let rules: [CORSRules?]
    /// By endpoint: whether its route is one for OPTIONS.
    private let isForOptions: [Bool]
    /// The rules of `defaults`, for a method without a route.
    private let others: CORSRules?

    package init(_ plan: Plan) {
        finder = EndpointFinder(plan)
        rules = plan.endpoints.map(\.cors)
        isForOptions = plan.endpoints.map { $0.route.method == .options }
        others = plan.entry.headers?.cors
    }

    var filter: Filter<Request, Response> {
        Filter { next in
            Service { [self] request, context in
                guard request.head.method == .options,
                    let response = response(to: request.head, context)
                else { return next(request, context) }
                return context.local.value(response)
            }
        }
    }

    /// Nil for a request that is not a preflight, and for one of a path without CORS rules: the
    /// routes respond to it.
    ///
    /// - Parameter context: nil where `explain` sends nothing
    package func response(to head: RequestHead, _ context: RequestContext? = nil) -> Response? {
        guard let origin = head.fields[.origin],
            let wanted = head.fields[.requestMethod].flatMap({ Method($0.bytes.span) })
        else { return nil }
        // A route for OPTIONS takes precedence; one for every method does not.
        if case .endpoint(let index) = finder.match(.options, of: head, context, isPreflight: true),
            isForOptions[index]
        {
            return nil
        }
        let selected: CORSRules?
        switch finder.match(wanted, of: head, context, isPreflight: true) {
        case .endpoint(let index): selected = rules[index]
        case .methodNotAllowed: selected = others
        case .notFound: return nil
        }
        guard let selected else { return nil }
        var fields = Self.varying
        // An origin that is not allowed gets none of the fields, so that the browser refuses the request.
        if selected.allows(origin.bytes) {
            fields.append(.allowOrigin, selected.stated(origin))
            if let methods = methods(of: head, context, with: selected) {
                fields.append(.allowMethods, methods)
            }
            fields.append(selected.preflightGrant)
        }
        return Response(status: .noContent, fields: fields)
    }

    private static let varying: Fields = [
        .vary: "Origin, Access-Control-Request-Method, Access-Control-Request-Headers"
    ]

    /// The methods of the path with these rules: browsers cache the permission for all of them.
    private func methods(
        of head: RequestHead, _ context: RequestContext?, with rules: CORSRules
    ) -> FieldValue? {
        let names = Self.methods.filter { method in
            guard
                case .endpoint(let index) = finder.match(
                    method, of: head, context, isPreflight: true)
            else {
                return false
            }
            return self.rules[index] === rules
        }.map(\.description)
        return names.isEmpty ? nil : FieldValue(names.joined(separator: ", "))
    }

    /// The methods of routes, without OPTIONS: a route for it responds itself.
    private static let methods: [Method] = [.get, .head, .post, .put, .patch, .delete]
}
