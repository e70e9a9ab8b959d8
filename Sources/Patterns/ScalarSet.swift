/// A set of Unicode scalars: ranges, and general categories.
struct ScalarSet: Equatable {
    /// Ascending, not touching each other.
    private let ranges: [ClosedRange<UInt32>]
    private let categories: ScalarCategories
    private let isNegated: Bool
    /// Membership of the scalars below 64, and of those from 64 to 127, one bit each.
    private let low: UInt64
    private let high: UInt64

    init(_ members: ScalarMembers, isNegated: Bool = false) {
        ranges = members.ranges.merged
        categories = members.categories
        self.isNegated = isNegated
        var table: (low: UInt64, high: UInt64) = (0, 0)
        for value in 0..<UInt32(64) {
            if members.contains(value) != isNegated { table.low |= 1 << UInt64(value) }
            if members.contains(value + 64) != isNegated { table.high |= 1 << UInt64(value) }
        }
        (low, high) = table
    }

    func contains(_ scalar: Unicode.Scalar) -> Bool {
        let value = scalar.value
        if value < 64 { return low >> UInt64(value) & 1 == 1 }
        if value < 128 { return high >> UInt64(value &- 64) & 1 == 1 }
        return (ranges.hasRange(around: value) || categories.contains(scalar)) != isNegated
    }
}

/// The members of a character class under construction.
struct ScalarMembers: Equatable {
    var ranges: [ClosedRange<UInt32>] = []
    var categories = ScalarCategories()

    mutating func formUnion(_ other: ScalarMembers) {
        ranges += other.ranges
        categories.formUnion(other.categories)
    }

    func contains(_ value: UInt32) -> Bool {
        ranges.contains { $0.contains(value) }
            || Unicode.Scalar(value).map(categories.contains) ?? false
    }
}

extension [ClosedRange<UInt32>] {
    /// The same scalars in ascending ranges that do not touch.
    var merged: [ClosedRange<UInt32>] {
        var result: [ClosedRange<UInt32>] = []
        for range in sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = result.last, range.lowerBound <= last.upperBound + 1 {
                result[result.count - 1] =
                    last.lowerBound...Swift.max(last.upperBound, range.upperBound)
            } else {
                result.append(range)
            }
        }
        return result
    }

    /// Every scalar that is in none of them.
    var complement: [ClosedRange<UInt32>] {
        var result: [ClosedRange<UInt32>] = []
        var next: UInt32 = 0
        for range in merged {
            if next < range.lowerBound { result.append(next...(range.lowerBound - 1)) }
            next = range.upperBound + 1
        }
        if next <= 0x10FFFF { result.append(next...0x10FFFF) }
        return result
    }

    /// For ranges that are `merged`.
    func hasRange(around value: UInt32) -> Bool {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle].upperBound < value { low = middle + 1 } else { high = middle }
        }
        return low < count && self[low].lowerBound <= value
    }
}
