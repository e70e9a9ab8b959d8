import HTTP
import JSONText

/// The value of an element of a list.
struct ListValue {
    /// Nil where it is left out.
    let value: JSONSlice?
    /// Whether it is the value of a request, and not the fallback.
    let isPart: Bool

    init(_ value: JSONSlice?, isPart: Bool) {
        self.value = value
        self.isPart = isPart
    }
}

/// The elements of a list that have failed.
struct FailedElements {
    let count: Int
    /// At most ten, ascending.
    let first: [Int]

    init(count: Int, first: [Int]) {
        self.count = count
        self.first = first
    }

    /// Nil for none.
    init?(_ indices: [Int]) {
        guard !indices.isEmpty else { return nil }
        count = indices.count
        first = Array(indices.prefix(10))
    }
}

extension FailedCall {
    /// With other elements of the list that have failed; the lowest element decides the failure.
    func adding(_ other: FailedCall) -> FailedCall {
        guard let elements, let others = other.elements else { return self }
        let isFirst = (elements.first.first ?? .max) <= (others.first.first ?? .max)
        return FailedCall(
            failure: isFirst ? failure : other.failure, call: call, host: host,
            elements: FailedElements(
                count: elements.count + others.count,
                first: Array((elements.first + others.first).sorted().prefix(10))))
    }
}
