package import Basics
package import HTTP
package import JSONText

/// One call: what is sent, when, and how the response is used.
///
/// A class, so that a use of it retains one reference and not twenty.
package final class CallPlan {
    /// Its index among the calls of the endpoint, in file order.
    package let index: Int
    package let name: String
    /// Into `Plan.backends`.
    package let backend: Int
    package let method: Method
    package let target: CompiledTemplate
    /// The headers of the call and of its endpoint, including those with `{...}`.
    package let headers: [(name: FieldName, value: CompiledTemplate)]
    package let body: BodyTemplatePlan?
    package let forward: ForwardPlan
    /// Which headers identify the client to the backend.
    package let forwarded: Config.Forwarded
    /// Whether its failure fails the request, by `required` or by `succeed_when: all`.
    package let isRequired: Bool
    package let timeout: Duration
    let accept: [ClosedRange<Int>]
    package let relayStatus: [ClosedRange<Int>]
    package let relaysBody: Bool
    package let relayHeaders: [FieldName]
    package let retry: RetryPlan?
    package let hedgeAfter: Duration?
    package let shape: JSONShape
    /// `keep: []`
    let keepsNothing: Bool
    /// What the shape changes, for `explain`: `keep available, warehouse.city`.
    package let selections: [String]
    package let placement: Placement
    /// `on_collision: fail`: a key that already exists is the call's failure, and not a dropped member.
    package let failsOnCollision: Bool
    package let fallback: Fallback
    /// `when`; nil if the call is always made.
    package let condition: ConditionPlan?
    /// `each`; nil for a single request.
    package let list: ListPlan?
    /// The calls whose values are put in the elements of its response, in file order.
    let lists: [Int]
    /// The calls whose responses the condition uses, so that it is evaluated when they have settled.
    let conditionCalls: [Int]
    /// The longest response body: the endpoint's `max_body`.
    let responseBytesMax: Int
    /// The calls whose responses it uses.
    package let uses: [Int]
    /// The calls in `uses` and those in its `after`: the call is skipped if one of them fails.
    package let needs: [Int]
    /// The calls in `needs` and those in `conditionCalls`.
    package let waitsFor: [Int]

    /// One line for each key; the planner computes what takes more than a line.
    init(_ index: Int, _ planner: CallPlanner) throws(PlanError) {
        let (call, endpoint, config) = (planner.call, planner.endpoint, planner.config)
        self.index = index
        name = call.name.value
        backend = planner.backend
        method = planner.method
        target = planner.target
        headers = try planner.headers()
        body = try planner.body()
        forward = try planner.forward()
        forwarded = planner.forwarded
        isRequired = call.required?.value == true || endpoint.succeedWhen?.value == .all
        timeout = config.timeout(of: call, in: endpoint).value
        accept = call.accept?.value ?? PlanDefaults.accept
        // The 404 of one element is not the status of the response.
        relayStatus =
            call.relayStatus?.value ?? (call.each == nil ? PlanDefaults.relayStatus : [])
        relaysBody = call.relayBody?.value ?? false
        relayHeaders = try planner.relayHeaders()
        retry = call.retry.map { RetryPlan($0) }
        hedgeAfter = call.hedge?.after?.value
        shape = try planner.shape()
        keepsNothing = call.keep?.value.isEmpty ?? false
        selections = planner.selections
        placement = planner.placement
        failsOnCollision = (call.onCollision?.value ?? PlanDefaults.onCollision) == .fail
        fallback = try planner.fallback()
        condition = try planner.condition()
        list = try planner.list()
        lists = planner.lists
        conditionCalls = condition?.calls ?? []
        responseBytesMax = config.bodyMax(of: endpoint).value
        uses = planner.scope.uses
        let after = call.after.compactMap { planner.scope.call(named: $0.value) }
        needs = Set(planner.scope.uses + after).sorted()
        waitsFor = planner.scope.waitsFor
    }

    /// All references of its templates and its condition.
    var references: [CompiledTemplate.Reference] {
        let inTexts = ([target] + headers.map(\.value)).flatMap(\.references)
        return inTexts + (body?.pieces ?? []).compactMap(\.reference)
            + (condition?.references ?? []) + [list?.reference].compactMap { $0 }
    }

    /// The query parameters that it uses as `{request.query.name}`.
    package var queryNames: [Bytes] {
        references.compactMap(\.source.queryName)
    }

    /// Whether a failure with this status is relayed to the client.
    func relays(_ status: Status) -> Bool {
        relayStatus.contains { $0.contains(Int(status.code)) }
    }

    /// `at`: where the part is put in the response.
    package enum Placement: Equatable {
        /// Under the call's name, or another key of the root.
        case named(String)
        /// Its members at the root.
        case root
        /// Under these keys, of which the last one is its own; at least two.
        case nested([String])
        /// Its elements at the end of the array under these keys.
        case appended([String])
        /// Under these keys in each element of the list that it is made for.
        case elements([String])
        /// The response does not contain it.
        case absent
    }

    /// The key of the root that has the part; nil if it is elsewhere.
    package var ownKey: String? { if case .named(let key) = placement { key } else { nil } }

    /// `if_failed`.
    package enum Fallback: Equatable {
        case omit
        case value(JSONSlice)
    }
}

/// `forward:`, which client headers and query parameters are forwarded.
package struct ForwardPlan {
    package let headers: [FieldName]
    /// Headers that only proxies should send (`X-Forwarded-...`): forwarded from trusted proxies
    /// only.
    package let proxyHeaders: [FieldName]
    package let query: QueryForward?

    package var forwardsAllQuery: Bool { if case .all = query { true } else { false } }

    static let nothing = ForwardPlan(headers: [], proxyHeaders: [], query: nil)
}
