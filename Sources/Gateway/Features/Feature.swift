import HTTP

/// A capability that users switch on with keys. One folder beside this file has all of it: keys, checks,
/// plan, filter, and what `check`, `explain` and `openapi` say about it.
///
/// The configuration language and these commands go through `Features.all`. A requirement that a feature
/// does not implement adds nothing. `Chain` decides where a filter stands; no feature places itself.
protocol Feature: SendableMetatype {
    /// The keys that it adds to blocks of others.
    static var keys: FeatureKeys { get }

    /// Reports what is wrong with its keys, apart from single values, which their readers check.
    static func check(_ check: inout ConfigCheck)

    /// Warns of what nothing uses, in a configuration without errors.
    static func checkUse(_ check: inout ConfigCheck)

    /// The lines of `check` about a plan without errors.
    static func summary(of plan: Plan) -> [String]

    /// The response of `explain` to a request before its endpoint handles it; nil if there is none.
    static func entryResponse(to head: RequestHead, of plan: Plan) -> ExplainedEntryResponse?

    /// The lines of `explain` about an endpoint, for a request with this head.
    static func conditions(_ endpoint: EndpointPlan, of plan: Plan, _ head: RequestHead) -> [String]

    /// What `explain` notes on a call.
    static func notes(on call: CallPlan) -> [String]

    /// The lines of `explain` below the conditions: what the credential and the values of a request decide.
    static func decisions(on request: Explanation, by endpoint: EndpointPlan) -> [String]

    /// The line of `explain` if an endpoint refuses the request; nil if it accepts it.
    static func refusal(of request: Explanation, by endpoint: EndpointPlan) -> String?

    /// The statuses of its refusals, for OpenAPI.
    static func refusedStatuses(_ endpoint: EndpointPlan, of plan: EntryPlan) -> [String]

    /// The headers that it adds to successful responses, for OpenAPI.
    static func responseHeaders(_ endpoint: EndpointPlan) -> [String]
}

extension Feature {
    static var keys: FeatureKeys { FeatureKeys() }
    static func check(_ check: inout ConfigCheck) {}
    static func checkUse(_ check: inout ConfigCheck) {}
    static func summary(of plan: Plan) -> [String] { [] }
    static func entryResponse(to head: RequestHead, of plan: Plan) -> ExplainedEntryResponse? {
        nil
    }
    static func conditions(
        _ endpoint: EndpointPlan, of plan: Plan, _ head: RequestHead
    ) -> [String] { [] }
    static func notes(on call: CallPlan) -> [String] { [] }
    static func decisions(on request: Explanation, by endpoint: EndpointPlan) -> [String] { [] }
    static func refusal(of request: Explanation, by endpoint: EndpointPlan) -> String? { nil }
    static func refusedStatuses(_ endpoint: EndpointPlan, of plan: EntryPlan) -> [String] { [] }
    static func responseHeaders(_ endpoint: EndpointPlan) -> [String] { [] }
}

/// Keys by the block that they belong to.
struct FeatureKeys {
    /// The configuration file itself.
    var root: [BlockKey<Config>] = []
    var defaults: [BlockKey<Config.Defaults>] = []
    var endpoint: [BlockKey<Config.Endpoint>] = []
    var call: [BlockKey<Config.Call>] = []
    var backend: [BlockKey<Config.Backend>] = []
}

enum Features {
    /// In the order in which the reference, `check` and `explain` name them.
    static let all: [any Feature.Type] = [
        AccessLogFeature.self, TracesFeature.self, MetricsFeature.self, HostsFeature.self,
        MatchingFeature.self, ClientAddressesFeature.self, UserAgentsFeature.self, AuthFeature.self,
        RateLimitsFeature.self, ContentTypesFeature.self, CORSFeature.self,
        FixedHeadersFeature.self, PaddingFeature.self, DeadlineFeature.self,
        InFlightLimitFeature.self, BodyFeature.self, UnknownQueryFeature.self, PathsFeature.self,
        ProxyFeature.self, RespondFeature.self, PartsFeature.self, RetryFeature.self,
        HedgeFeature.self,
        BreakerFeature.self,
        ListsFeature.self, ConcurrencyLimitFeature.self, EjectFeature.self, HealthFeature.self,
    ]

    static func keys<Block>(_ block: KeyPath<FeatureKeys, [BlockKey<Block>]>) -> [BlockKey<Block>] {
        all.flatMap { $0.keys[keyPath: block] }
    }
}
