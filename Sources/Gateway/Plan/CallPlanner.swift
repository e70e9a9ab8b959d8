import Basics
import GatewayConfig
import HTTP
import JSONText

/// Plans one call: its backend by index, its templates and its shape compiled.
struct CallPlanner {
    let planner: Planner
    let call: Config.Call
    let scope: CallScope

    private var endpoint: Config.Endpoint { scope.endpoint }
    private var defaults: Config.Defaults? { planner.config.defaults }

    func plan(_ index: Int) throws(PlanError) -> CallPlan {
        guard let request = call.request, let from = call.from,
            let backend = planner.config.backends.firstIndex(where: { $0.name.value == from.value })
        else { throw PlanError("\(call.place): no backend or no request") }
        let templates = TemplatePlanner(scope: scope)
        let target = try templates.target(request.target)
        let forwarded =
            call.forwarded?.value ?? planner.config.backends[backend].forwarded?.value ?? .off
        return CallPlan(
            index: index,
            name: call.name.value,
            backend: backend,
            method: Method(request.method.value.rawValue) ?? .get,
            target: target,
            headers: try headers(templates),
            body: try call.body.map { body throws(PlanError) in try templates.body(body) },
            forward: try forward(forwarded, target),
            forwarded: forwarded,
            isRequired: call.required?.value == true || endpoint.succeedWhen?.value == .all,
            timeout: call.timeout?.value ?? endpoint.timeout?.value ?? defaults?.timeout?.value
                ?? PlanDefaults.timeout,
            accept: call.accept?.value ?? PlanDefaults.accept,
            relayStatus: call.relayStatus?.value ?? PlanDefaults.relayStatus,
            relaysBody: call.relayBody?.value ?? false,
            relayHeaders: try fieldNames(call.relayHeaders),
            retry: call.retry.map(retry),
            hedgeAfter: call.hedge?.after?.value,
            shape: try shape(),
            cuts: cuts,
            placement: call.at == nil
                ? .named : .root(failsOnCollision: call.onCollision?.value == .fail),
            fallback: try fallback(),
            condition: try condition(),
            answerMax: endpoint.maxBody?.value ?? defaults?.maxBody?.value ?? PlanDefaults.bodyMax,
            uses: scope.uses,
            waitsFor: scope.waitsFor)
    }

    private func headers(
        _ templates: TemplatePlanner
    ) throws(PlanError) -> [(name: FieldName, value: URLTemplate)] {
        var headers: [(name: FieldName, value: URLTemplate)] = []
        for header in call.headers {
            headers.append((try planner.fieldName(header.name), try templates.field(header.value)))
        }
        return headers
    }

    /// A call's list replaces the endpoint's.
    private func forward(
        _ forwarded: Config.Forwarded, _ target: URLTemplate
    ) throws(PlanError) -> ForwardPlan {
        guard let forward = call.forward ?? endpoint.forward else { return .nothing }
        let names = forward.headers
        return ForwardPlan(
            headers: try fieldNames(names.filter { !HeaderSyntax.isForwarding($0.value) }),
            proxyHeaders: try fieldNames(
                names.filter { planner.proxies.source.maintains($0.value) }
            )
            .filter { !forwarded.names.contains($0) },
            query: query(forward.query, target))
    }

    private func query(_ query: Config.Forward.Query, _ target: URLTemplate) -> QueryForward? {
        switch query {
        case .names(let names): names.isEmpty ? nil : .names(names.map { Bytes($0.value) })
        case .all:
            .all(
                except: scope.params.compactMap { param in
                    if case .query(let name) = param.source { name } else { nil }
                } + target.literalQueryNames)
        }
    }

    private func fieldNames(_ names: [Placed<String>]) throws(PlanError) -> [FieldName] {
        var result: [FieldName] = []
        for name in names { result.append(try planner.fieldName(name)) }
        return result
    }

    private func retry(_ retry: Config.Call.Retry) -> RetryPlan {
        let conditions = retry.on?.value ?? [.connect, .terminated]
        return RetryPlan(
            attempts: retry.attempts?.value ?? PlanDefaults.retryAttempts,
            onConnect: conditions.contains(.connect),
            onTerminated: conditions.contains(.terminated),
            statuses: conditions.compactMap {
                if case .status(let code) = $0 { code } else { nil }
            },
            backoff: retry.backoff?.value ?? PlanDefaults.retryBackoff)
    }

    private func shape() throws(PlanError) -> JSONShape {
        do {
            return try JSONShape(
                take: try call.take.map { try JSONPath($0.value) },
                keep: try call.keep?.value.map { try JSONPath($0.value) },
                drop: try call.drop.map { try JSONPath($0.value) },
                rename: try call.rename.map {
                    JSONShape.Rename(try JSONPath($0.path.value), to: $0.name.value)
                })
        } catch {
            throw PlanError("\(call.place): \(error)")
        }
    }

    private var cuts: [String] {
        func words(_ verb: String, _ paths: [Placed<String>]) -> [String] {
            paths.isEmpty ? [] : ["\(verb) \(paths.map(\.value).joined(separator: ", "))"]
        }
        let keep = call.keep.map { $0.value.isEmpty ? ["keep nothing"] : words("keep", $0.value) }
        return (keep ?? []) + words("drop", call.drop)
    }

    private func fallback() throws(PlanError) -> CallPlan.Fallback {
        switch call.ifFailed?.value {
        case .omit: return .omit
        case nil: return .value(.null)
        case .value(let json):
            do {
                return .value(try JSONSlice(validating: json))
            } catch {
                throw PlanError("\(call.place): 'if_failed': \(error)")
            }
        }
    }

    private func condition() throws(PlanError) -> CallPlan.Condition? {
        guard let when = call.when, let name = when.param?.value else { return nil }
        guard let param = scope.param(named: name) else {
            throw PlanError("\(when.place): no parameter \(name)")
        }
        return CallPlan.Condition(param: param, value: when.value?.value)
    }
}
