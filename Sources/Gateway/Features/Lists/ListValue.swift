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
