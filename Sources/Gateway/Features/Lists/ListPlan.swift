import Basics
import JSONText

/// `each` of a call: the list, and how its requests are made.
package final class ListPlan {
    /// Of an element, in references.
    package let name: String
    /// The list.
    let reference: CompiledTemplate.Reference
    package let max: Int
    package let parallel: Int
    private let enough: Config.Call.Each.Enough?
    /// `over: truncate`
    let truncates: Bool
    let isDistinct: Bool
    /// Nil for one request for each element.
    package let batch: Batch?

    /// Requests for several elements, and how their results are assigned.
    package struct Batch {
        /// How many distinct values one request has.
        package let size: Int
        /// In an element of a result.
        let path: JSONPath
        /// In an element of the list.
        let value: CompiledTemplate.Reference
    }

    init(_ each: Config.Call.Each, _ planner: TemplatePlanner) throws(PlanError) {
        guard let list = each.list, let name = each.name else {
            throw PlanError("\(each.location): no list")
        }
        self.name = name.value
        reference = try planner.compile(list.value, at: "\(list.location)")
        max = each.max?.value ?? PlanDefaults.listMax
        parallel = each.parallel?.value ?? PlanDefaults.listParallel
        enough = each.enough?.value
        truncates = (each.over?.value ?? PlanDefaults.listOver) == .truncate
        isDistinct = each.distinct?.value ?? true
        do {
            batch = try each.batch.flatMap { batch in
                try each.match.first.map { match in
                    Batch(
                        size: batch.value, path: try JSONPath(match.path.value),
                        value: try planner.compile(
                            match.value.template.references[0], at: "\(match.value.location)"))
                }
            }
        } catch {
            throw PlanError("\(each.location): \(error)")
        }
    }

    /// How many requests a list with the most elements needs.
    package var requestsMax: Int { batch.map { (max + $0.size - 1) / $0.size } ?? max }

    /// Whether the client sends the list.
    package var isOfClient: Bool {
        switch reference.source {
        case .requestBody, .requestQuery: true
        default: false
        }
    }

    /// As in references: `orders.items`.
    package var listName: String { reference.name }

    /// Where the list is in the response of its call; nil for the whole response, and for a list of the client.
    var path: JSONPath? { if case .call(_, let path) = reference.source { path } else { nil } }

    /// The call whose response has the list; nil for a list of the client.
    package var call: Int? {
        if case .call(let index, _) = reference.source { index } else { nil }
    }

    /// Whether a call can succeed without the values of all elements.
    var mayLackValues: Bool { enough != nil || truncates }
}

extension ListPlan {
    /// The failure of an element: a value that is missing in a list of the client is missing in the client's request.
    func failure(_ failure: CallFailure) -> CallFailure {
        if isOfClient, case .skipped(.element(let name)) = failure {
            return .skipped(.client(name))
        }
        return failure
    }

    /// How many of so many elements must have a value.
    func needed(of count: Int, isRequired: Bool) -> Int {
        switch enough {
        case .count(let number)?: min(number, count)
        // Rounded up, without the error of binary fractions.
        case .share(let share)?:
            Swift.max(1, Int((share * Double(count) / 100 - 1e-9).rounded(.up)))
        case nil: isRequired ? count : 1
        }
    }
}

extension CallPlanner {
    /// The calls whose values are put in the elements of the call's response.
    var lists: [Int] {
        endpoint.calls.indices.filter { index in
            let other = endpoint.calls[index]
            guard case .elements? = other.at?.value else { return false }
            return other.listCall == call.name.value
        }
    }

    func list() throws(PlanError) -> ListPlan? {
        try call.each.map { each throws(PlanError) in
            try ListPlan(each, TemplatePlanner(scope: scope))
        }
    }
}
