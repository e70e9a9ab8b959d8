import Basics
import HTTP
import JSONText

// The elements of a list.
extension ListPlan {
    /// Throws why there is no list, or that it is too long.
    ///
    /// - Parameter left: receives how many elements are left out with `over: truncate`
    func elements(
        in values: CallValues, _ names: ValueNames, left: inout Int
    ) throws(CallFailure) -> [JSONSlice] {
        let elements: [JSONSlice]
        let count: Int
        if case .requestQuery(let name) = reference.source {
            let texts = values.head.target.values(ofQuery: name)
            count = texts.count
            elements = texts.prefix(max).map { JSONSlice(string: $0) }
        } else {
            guard let list = values.json(of: reference.source), list.kind == .array else {
                throw .skipped(names.reason(naming: reference))
            }
            count = list.elementCount
            elements = Array(list.elements.prefix(max))
        }
        left = count - elements.count
        guard left == 0 || truncates else { throw .tooManyElements }
        return elements
    }

    fileprivate func fault(in values: CallValues) -> Reason? {
        if case .requestQuery(let name) = reference.source {
            if values.head.target.hasBrokenValue(ofQuery: name) { return .brokenEscape }
            if !values.head.target.values(ofQuery: name).allSatisfy(\.isUTF8) { return .notUTF8 }
        }
        guard !truncates, let count = values.count(of: reference.source), count > max else {
            return nil
        }
        return .elements(max)
    }
}

extension EndpointPlan {
    /// The faults of lists of the client: one that is too long, and values that are not text.
    func listFaults(_ values: CallValues) -> [InvalidRequest.Fault] {
        var faults: [InvalidRequest.Fault] = []
        // A condition on responses is not known before the calls start.
        for call in calls
        where !call.conditionCalls.isEmpty || call.condition?.holds(in: values) != false {
            guard let list = call.list, let reason = list.fault(in: values) else { continue }
            let isInBody = if case .requestBody = list.reference.source { true } else { false }
            let prefix = isInBody ? "request.body." : "request.query."
            let fault = InvalidRequest.Fault(
                location: isInBody ? .body : .query,
                name: String(list.reference.name.dropFirst(prefix.count)), reason: reason)
            if !faults.contains(fault) { faults.append(fault) }
        }
        return faults
    }
}

extension CallPlan {
    /// Why the element gets no request: its value would have no place in it.
    func obstacle(in element: JSONSlice) -> CallFailure? {
        guard case .elements(let keys) = placement else { return nil }
        var object = element
        for key in keys.dropLast() {
            guard object.kind == .object else { return .invalidShape }
            guard let inner = object.value(at: JSONPath(steps: [.key(Bytes(key))])), !inner.isNull
            else { return nil }
            object = inner
        }
        guard object.kind == .object else { return .invalidShape }
        guard failsOnCollision, let key = keys.last,
            object.value(at: JSONPath(steps: [.key(Bytes(key))])) != nil
        else { return nil }
        return .collision(key: key)
    }
}
