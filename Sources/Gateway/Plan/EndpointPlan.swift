package import Basics
package import HTTP
import JSONText
package import YAMLReader

/// One endpoint: its route, parameters, calls, response and time limits.
///
/// A class, for the same reason as `CallPlan`.
package final class EndpointPlan {
    package let index: Int
    package let route: Config.Route
    /// The name in logs and metrics: `GET /products/{id}`.
    package let name: String
    package let matching: MatchPlan
    package let location: SourceLocation
    /// Nil where no path is refused because servers read it in different ways.
    let paths: PathRulePlan?
    package let params: [ParamPlan]
    package let body: BodyPlan?
    /// The values of the body that calls, conditions and limits use.
    let bodyPaths: [JSONPath]
    /// The longest request body, in bytes.
    package let bodyMax: Int
    /// From the last byte of the request until the response must be ready, before padding.
    package let deadline: Duration
    package let padding: PaddingPlan?
    let success: SuccessRule
    package let report: Config.Endpoint.Report
    let exposesDetails: Bool
    package let partialStatus: Status
    let cacheControl: FieldValue?
    package let hasServerTiming: Bool
    package let inFlightMax: Int?
    /// The proxies whose forwarding headers are trusted.
    let proxies: TrustedProxies
    /// The addresses of clients that are accepted; nil for all.
    package let clients: AddressRule?
    /// Which callers are accepted; nil for a public endpoint.
    package let auth: EndpointAuthPlan?
    /// The media types of bodies; nil for all.
    package let contentTypes: ContentTypes?
    /// The names of the query parameters that it uses, if others are refused; nil if they are
    /// dropped.
    let queryNames: [Bytes]?
    /// The headers of all its responses; nil if they are the server's.
    let headers: ResponseHeaders?
    /// In the order of the configuration.
    package let limits: [LimitUsePlan]
    let addressMask: AddressMask
    /// Empty with `proxy`, and for a response without calls.
    package let calls: [CallPlan]
    /// How requests are passed through; nil for an endpoint with calls.
    package let proxy: ProxyPlan?
    /// What the response has in addition to the parts; nil for the parts only.
    package let respond: RespondPlan?
    /// How the response is sent part by part; nil if it never is.
    package let parts: PartsPlan?
    package let graph: CallGraph
    /// How many parts to store: none if no call, no condition and no value of the response uses one.
    let storedParts: Int
    let hasLists: Bool
    /// The segments of call paths that the client's values could make empty, `.` or `..`.
    let clientSegments: [ClientSegment]

    /// One line for each key; the planner computes what takes more than a line.
    init(_ index: Int, _ planner: EndpointPlanner) throws(PlanError) {
        let (endpoint, config) = (planner.endpoint, planner.config)
        self.index = index
        route = planner.route
        name = planner.name(ofEndpoint: index)
        matching = try planner.matching(ofEndpoint: index)
        location = endpoint.location
        paths = planner.paths(ofEndpoint: index)
        params = planner.params
        body = try planner.body()
        bodyMax = endpoint.body?.max?.value ?? config.bodyMax(of: endpoint).value
        deadline = config.deadline(of: endpoint).value
        padding = PaddingPlan(endpoint.padding)
        success = planner.success
        report = planner.report
        exposesDetails = config.expose(of: endpoint).value == .details
        partialStatus = Status(config.partialStatus(of: endpoint).value) ?? .ok
        cacheControl = endpoint.cacheControl.flatMap { FieldValue($0.value) }
        hasServerTiming = endpoint.serverTiming?.value ?? false
        inFlightMax = endpoint.maxInFlight.map { planner.share($0.value) }
        proxies = planner.proxies
        clients = AddressRule(
            allow: endpoint.clients?.allow?.value, deny: endpoint.clients?.deny?.value)
        auth = try planner.auth()
        contentTypes = ContentTypes(endpoint.contentTypes.types.map(\.value))
        headers = try planner.headers()
        limits = try planner.limits()
        addressMask = planner.addressMask
        calls = try planner.calls()
        proxy = try planner.proxy()
        respond = try planner.respond()
        parts = planner.parts(calls, respond)
        bodyPaths = Self.bodyPaths(calls, limits, respond)
        queryNames =
            planner.refusesUnknownQuery
            ? Self.declaredQueryNames(params) + matching.queryNames
                + Self.usedQueryNames(calls, auth, limits, respond)
            : nil
        graph = planner.graph
        storedParts =
            calls.contains { !$0.uses.isEmpty || !$0.conditionCalls.isEmpty }
                || respond?.usesCalls == true ? calls.count : 0
        hasLists = calls.contains { $0.list != nil }
        clientSegments = Self.clientSegments(of: calls)
    }

    package var cors: CORSRules? { headers?.cors }

    /// `unknown_query: refuse`
    package var refusesUnknownQuery: Bool { queryNames != nil }

    private static func declaredQueryNames(_ params: [ParamPlan]) -> [Bytes] {
        params.compactMap(\.queryName)
    }

    /// The names of the query parameters that calls forward, and that anything in the endpoint uses as
    /// `{request.query.name}`.
    package var usedQueryNames: [Bytes] {
        Self.usedQueryNames(calls, auth, limits, respond) + matching.queryNames
    }

    private static func usedQueryNames(
        _ calls: [CallPlan], _ auth: EndpointAuthPlan?, _ limits: [LimitUsePlan],
        _ respond: RespondPlan?
    ) -> [Bytes] {
        var names: [Bytes] = []
        for call in calls {
            if case .names(let forwarded)? = call.forward.query { names += forwarded }
            names += call.queryNames
        }
        for limit in limits { names += limit.queryNames }
        names += (respond?.references ?? []).compactMap(\.source.queryName)
        return names + (auth?.queryNames ?? [])
    }

    private static func bodyPaths(
        _ calls: [CallPlan], _ limits: [LimitUsePlan], _ respond: RespondPlan?
    ) -> [JSONPath] {
        var paths: [JSONPath] = []
        let references = calls.flatMap(\.references) + (respond?.references ?? [])
        for source in references.map(\.source) + limits.flatMap(\.sources) {
            guard case .requestBody(let path?) = source, !paths.contains(path) else { continue }
            paths.append(path)
        }
        return paths
    }

    /// The headers that rate limits and `require` use as `{request.header.name}`.
    package var headersOfLimitsAndAuth: [FieldName] {
        limits.flatMap(\.headerNames) + (auth?.headerNames ?? [])
    }

    /// The headers that the gateway decides by: of parameters, rate limits, `require`, and the conditions
    /// of its route.
    var usedHeaders: [FieldName] {
        params.compactMap { param in
            if case .header(let name) = param.source { name } else { nil }
        } + headersOfLimitsAndAuth + matching.headerNames
    }

    /// `380ms, padded to 400ms, one is enough`
    package var timing: String {
        var text = deadline.spelled
        if let padding { text += ", \(padding.text)" }
        switch success {
        case .any where calls.count > 1: text += ", one is enough"
        case .all where calls.count > 1: text += ", all are needed"
        case .any, .all, .required: break
        }
        if hasLists {
            let most = calls.compactMap { $0.list?.requestsMax }.reduce(0, +)
            text += ", \(calls.count { $0.list == nil }) + at most \(most) calls"
        }
        return text
    }
}

/// `succeed_when`, with the default resolved.
enum SuccessRule {
    /// One is enough.
    case any
    /// Every call.
    case all
    /// The calls marked `required`; others may fail.
    case required
}
