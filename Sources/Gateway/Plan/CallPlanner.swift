import Basics
import HTTP
import JSONText

/// Computes the parts of a `CallPlan`: the backend's index, the compiled templates and the shape.
final class CallPlanner {
    let call: Config.Call
    let scope: CallScope
    /// Into the plan's backends.
    let backend: Int
    let method: Method
    let target: CompiledTemplate
    let forwarded: Config.Forwarded
    private let planner: Planner

    init(_ call: Config.Call, _ scope: CallScope, _ planner: Planner) throws(PlanError) {
        let backends = planner.config.backends
        guard let request = call.request, let from = call.from,
            let backend = backends.firstIndex(where: { $0.name.value == from.value })
        else { throw PlanError("\(call.location): no backend or no request") }
        self.call = call
        self.scope = scope
        self.planner = planner
        self.backend = backend
        method = Method(request.method.value)
        target = try TemplatePlanner(scope: scope).target(request.target)
        forwarded = planner.config.forwarded(of: call, to: backends[backend]).value
    }

    var config: Config { planner.config }
    var endpoint: Config.Endpoint { scope.endpoint }
    private var templates: TemplatePlanner { TemplatePlanner(scope: scope) }

    func headers() throws(PlanError) -> [(name: FieldName, value: CompiledTemplate)] {
        var headers: [(name: FieldName, value: CompiledTemplate)] = []
        for header in config.headers(of: call, in: endpoint) {
            headers.append((try planner.fieldName(header.name), try templates.field(header.value)))
        }
        return headers
    }

    func body() throws(PlanError) -> BodyTemplatePlan? {
        try call.content.map { body throws(PlanError) in try templates.body(body) }
    }

    func forward() throws(PlanError) -> ForwardPlan {
        guard let forward = config.forward(of: call, in: endpoint) else { return .nothing }
        let names = forward.headers
        return ForwardPlan(
            headers: try fieldNames(names.filter { !HeaderSyntax.isForwarding($0.value) }),
            proxyHeaders: try fieldNames(
                names.filter { planner.proxies.source.maintains($0.value) }
            )
            .filter { !forwarded.names.contains($0) },
            query: try query(forward.query))
    }

    private func query(_ query: Config.Forward.Query) throws(PlanError) -> QueryForward? {
        switch query {
        case .names(let names):
            return names.isEmpty ? nil : .names(names.map { Bytes($0.value) })
        case .all:
            return .all(
                exceptNamed: scope.params.compactMap(\.queryName) + target.literalQueryNames,
                using: try scope.endpointPlanner.decidingQueryNames())
        }
    }

    func fieldNames(_ names: [Located<String>]) throws(PlanError) -> [FieldName] {
        var result: [FieldName] = []
        for name in names { result.append(try planner.fieldName(name)) }
        return result
    }

    /// Without the headers that all responses of the endpoint have.
    func relayHeaders() throws(PlanError) -> [FieldName] {
        let fixed = try planner.fixedFields(for: endpoint)
        let hasCORS = planner.config.cors(of: endpoint) != nil
        return try fieldNames(call.relayHeaders).filter { name in
            !fixed.contains(name) && !(hasCORS && HeaderSyntax.isCORS("\(name)"))
        }
    }

    func shape() throws(PlanError) -> JSONShape {
        do {
            return try JSONShape(
                take: try call.take.map { try JSONPath($0.value) },
                keep: try call.keep?.value.map { try JSONPath($0.value) },
                drop: try call.drop.map { try JSONPath($0.value) },
                rename: try call.renamedMembers.map {
                    JSONShape.Rename(try JSONPath($0.path.value), to: $0.name.value)
                }, usesCamelCase: call.usesCamelCase)
        } catch {
            throw PlanError("\(call.location): \(error)")
        }
    }

    var selections: [String] {
        func words(_ verb: String, _ paths: [Located<String>]) -> [String] {
            paths.isEmpty ? [] : ["\(verb) \(paths.map(\.value).joined(separator: ", "))"]
        }
        let keep = call.keep.map { $0.value.isEmpty ? ["keep nothing"] : words("keep", $0.value) }
        let names = call.usesCamelCase ? ["keys in camel case"] : []
        return (keep ?? []) + words("drop", call.drop) + names
    }

    var placement: CallPlan.Placement {
        switch call.at?.value {
        case nil: .named(call.name.value)
        case .root: .root
        case .absent: .absent
        case .member(let keys) where keys.count == 1: .named(keys[0])
        case .member(let keys): .nested(keys)
        case .array(let keys): .appended(keys)
        case .elements(_, let keys): .elements(keys)
        }
    }

    func fallback() throws(PlanError) -> CallPlan.Fallback {
        switch call.ifFailed?.value {
        case .omit: return .omit
        case nil: return .value(.null)
        case .value(let json):
            do {
                return .value(try JSONSlice(validating: json))
            } catch {
                throw PlanError("\(call.location): 'if_failed': \(error)")
            }
        }
    }

    func condition() throws(PlanError) -> ConditionPlan? {
        try call.when.map { condition throws(PlanError) in
            try ConditionPlanner(scope: scope).plan(condition)
        }
    }
}
