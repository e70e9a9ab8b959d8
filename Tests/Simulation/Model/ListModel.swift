import Rehearsal

/// The possible parts of a call with `each`, by the documented rules: each element has one of the values that its
/// requests received, or has failed.
struct ListModel {
    private let evidence: CallEvidence
    private let call: DrawnCall

    /// - Parameter evidence: of a call with `each`
    init(_ evidence: CallEvidence) {
        self.evidence = evidence
        call = evidence.call
    }

    private var elements: [String] { evidence.request.request.listElements }

    /// The parts, with the number of elements that have failed.
    var parts: [(part: BodyModel.Part, failed: Int)] {
        var choices: [[Tree?]] = [[]]
        for (index, element) in elements.enumerated() {
            if call.sharesRequests, let equal = elements[..<index].firstIndex(of: element) {
                choices = choices.map { $0 + [$0[equal]] }
                continue
            }
            let values = evidence.values(ofElement: element).map { Optional($0) } + [nil]
            choices = choices.flatMap { choice in values.map { choice + [$0] } }
        }
        let needed = call.enough(of: elements.count)
        return choices.map { choice in
            let failed = choice.count { $0 == nil }
            guard choice.count - failed >= needed else {
                return (.lost(array(elements.map { _ in nil })), failed)
            }
            let value = array(choice)
            return (failed == 0 ? .value(value) : .partial(value), failed)
        }
    }

    /// Whether fewer elements received a value than the call needs.
    var hasTooFewValues: Bool {
        let counts = Set(elements).map { element in
            let values = evidence.attempts.count {
                $0.isOf(element) && evidence.value(of: $0) != nil
            }
            let equal = elements.count { $0 == element }
            // With `distinct: false`, each of them has a request of its own.
            // A hedged request may have two values.
            let answered = call.hedgeAfter == nil ? values : (values + 1) / 2
            return call.sharesRequests && values > 0 ? equal : min(equal, answered)
        }
        return counts.reduce(0, +) < call.enough(of: elements.count)
    }

    /// The part of a call that was skipped as a whole.
    var skipped: BodyModel.Part { call.ifFailed == .omit ? .failed : .lost(.null) }

    private func array(_ values: [Tree?]) -> Tree {
        .array(values.compactMap { $0 ?? fallback })
    }

    /// Of one element; nil if it is left out.
    private var fallback: Tree? {
        switch call.ifFailed {
        case .omit: nil
        case nil: .null
        case .value(let json): Tree(reading: Array(json.utf8))
        }
    }
}

extension ScriptedRequest {
    /// The values of the query parameter that lists use.
    var listElements: [String] { query.filter { $0.name == DrawnUse.list }.map(\.value) }
}

extension AttemptRecord {
    /// Whether it was sent for an element of a list.
    func isOf(_ element: String) -> Bool {
        message.query.contains { $0.name == DrawnUse.element && $0.value == element }
    }
}

extension DrawnCall {
    /// Whether equal requests of its elements are one.
    var sharesRequests: Bool { keys["each"]?["distinct"] == nil }

    /// How many elements must have a value.
    fileprivate func enough(of count: Int) -> Int {
        if let number = keys["each"]?[number: "enough"] { return min(number, count) }
        return isRequired ? count : min(1, count)
    }
}

extension CallEvidence {
    /// The values that the requests of an element received.
    fileprivate func values(ofElement element: String) -> [Tree] {
        values { $0.isOf(element) }
    }
}
