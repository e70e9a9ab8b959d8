import Basics
import HTTP

/// A limit of one endpoint: which limit, counted by what, and how much.
package final class LimitUsePlan {
    package let limit: LimitPlan
    package let cost: Cost
    /// Empty for one bucket for all requests.
    package let key: [KeyPart]
    let planSource: PlanSource
    /// Requests for which it does not hold are not charged; nil if all are.
    package let condition: ConditionPlan?
    package let position: Position
    /// The key as configured: `address`, or `caller, {request.header.X-Tenant}`; nil without one.
    package let spelledKey: String?

    /// How many requests one request counts as.
    package enum Cost {
        case fixed(Int)
        /// The number of elements of a list, at least 1.
        case count(CompiledTemplate.Source, text: String)
    }

    /// What requests are counted by.
    package enum KeyPart {
        case address
        case caller
        /// A text counts as the number with the same spelling. Numbers count as equal in any spelling,
        /// because backends read them as equal.
        ///
        /// - `isTextual`: whether the value is never a number
        case value(CompiledTemplate.Source, isTextual: Bool)
    }

    /// Where the name of the caller's plan comes from.
    enum PlanSource {
        /// The limit has no plans.
        case none
        case caller
        case value(CompiledTemplate.Source)
    }

    /// The place in the chain of an endpoint: as soon as the key and the condition are known.
    package enum Position: Int, Comparable, CaseIterable {
        /// The address and the head suffice.
        case head
        /// After the authentication.
        case caller
        /// After parameters and body are validated.
        case validated

        package static func < (left: Position, right: Position) -> Bool {
            left.rawValue < right.rawValue
        }
    }

    init(
        _ limit: LimitPlan, cost: Cost, key: [KeyPart], planSource: PlanSource,
        condition: ConditionPlan?, spelledKey: String?
    ) {
        self.limit = limit
        self.cost = cost
        self.key = key
        self.planSource = planSource
        self.condition = condition
        self.spelledKey = spelledKey
        var position = max(planSource.position, condition?.limitPosition ?? .head)
        for part in key { position = max(position, part.position) }
        if case .count = cost { position = .validated }
        self.position = position
    }

    /// The query parameters that the key, the condition and the plan's name use.
    var queryNames: [Bytes] { sources.compactMap(\.queryName) }

    /// The headers that they use.
    var headerNames: [FieldName] { sources.compactMap(\.headerName) }

    var sources: [CompiledTemplate.Source] {
        var sources = key.compactMap { if case .value(let source, _) = $0 { source } else { nil } }
        if case .value(let source) = planSource { sources.append(source) }
        if case .count(let source, _) = cost { sources.append(source) }
        return sources + (condition?.references ?? []).map(\.source)
    }

    /// How many requests a request counts as.
    ///
    /// - Parameter values: of the request; needed where a list is counted
    func cost(of values: CallValues?) -> Int {
        switch cost {
        case .fixed(let cost): cost
        case .count(let source, _):
            min(max(1, values?.count(of: source) ?? 1), TokenBucket.countMax)
        }
    }

    /// `; costs 5`, nothing for a cost of 1.
    var costText: String {
        switch cost {
        case .fixed(let cost): cost > 1 ? "; costs \(cost)" : ""
        case .count(_, let text): "; costs 1 for each element of {\(text)}"
        }
    }

    /// Whether it needs a value of the request other than the client's address and the caller.
    var usesValues: Bool {
        if condition != nil { return true }
        if case .count = cost { return true }
        if case .value = planSource { return true }
        return key.contains { if case .value = $0 { true } else { false } }
    }
}

extension LimitUsePlan.KeyPart {
    fileprivate var position: LimitUsePlan.Position {
        switch self {
        case .address: .head
        case .caller: .caller
        case .value(let source, _): source.limitPosition
        }
    }
}

extension LimitUsePlan.PlanSource {
    fileprivate var position: LimitUsePlan.Position {
        switch self {
        case .none: .head
        case .caller: .caller
        case .value(let source): source.limitPosition
        }
    }
}

extension ConditionPlan {
    /// Where all its values are known. The recursion is as deep as the nesting, which `check`
    /// limits.
    fileprivate var limitPosition: LimitUsePlan.Position {
        switch rule {
        case .wasSent: .validated
        case .test: references.map(\.source.limitPosition).max() ?? .head
        case .all(let parts), .any(let parts): parts.map(\.limitPosition).max() ?? .head
        case .not(let part): part.limitPosition
        }
    }
}

extension CompiledTemplate.Source {
    /// Where the value is known.
    fileprivate var limitPosition: LimitUsePlan.Position {
        switch self {
        case .requestHeader, .requestQuery, .requestClient: .head
        case .requestCaller, .token: .caller
        case .param, .requestBody, .call, .element: .validated
        }
    }
}
