import Basics
package import HTTP
package import Patterns

/// The values of an endpoint's parameters in one request, decoded once; by index, in plan order.
///
/// The first two are stored inline, so that most endpoints need no allocation.
package struct Params {
    private enum Value {
        case absent
        case sent(Bytes)
        case byDefault(Bytes)
    }

    private var first: InlineArray<2, Value> = .init(repeating: .absent)
    private var others: [Value] = []
    private(set) var count = 0

    /// Without parameters.
    package init() {}

    /// Reads and checks all parameters.
    ///
    /// - Parameters:
    ///   - work: the remaining work limit for the request's patterns
    ///   - errors: gets everything that is wrong
    package init(
        _ plans: [ParamPlan], of head: RequestHead, _ work: inout PatternWork,
        _ errors: inout [InvalidRequest.Fault]
    ) {
        for plan in plans {
            switch plan.read(head, &work) {
            case .absent: append(plan.defaultValue.map { .byDefault($0) } ?? .absent)
            case .value(let value): append(.sent(value))
            case .refused(let reason):
                errors.append(
                    InvalidRequest.Fault(location: plan.location, name: plan.name, reason: reason))
            }
        }
    }

    /// Reads some parameters before all are validated: one that is not valid counts as absent, and so
    /// do those that are not read.
    ///
    /// - Parameters:
    ///   - isUsed: whether a parameter is read, by index
    ///   - work: the remaining work limit for the request's patterns
    init(
        _ plans: [ParamPlan], where isUsed: [Bool], of head: RequestHead, _ work: inout PatternWork
    ) {
        for (plan, isUsed) in zip(plans, isUsed) {
            if isUsed, case .value(let value) = plan.read(head, &work) {
                append(.sent(value))
            } else {
                append(plan.defaultValue.map { .byDefault($0) } ?? .absent)
            }
        }
    }

    /// The value or the default; nil if there is neither.
    subscript(index: Int) -> Bytes? {
        switch value(at: index) {
        case .absent: nil
        case .sent(let value), .byDefault(let value): value
        }
    }

    /// Whether the client sent the value.
    func wasSent(_ index: Int) -> Bool {
        if case .sent = value(at: index) { true } else { false }
    }

    private func value(at index: Int) -> Value {
        switch index {
        case 0..<2: first[index]
        case 2..<count: others[index - 2]
        default: .absent
        }
    }

    private mutating func append(_ value: Value) {
        if count < 2 { first[count] = value } else { others.append(value) }
        count += 1
    }
}
