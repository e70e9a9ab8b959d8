import Testing

@testable import Assembly

/// The ring of entries: what it keeps, and in which order.
@Suite struct EntryRingTests {
    /// An entry of so many words whose content is its sequence number.
    private func entry(_ sequence: UInt64, words: Int = 5) -> [UInt32] {
        [UInt32(words), UInt32(truncatingIfNeeded: sequence), UInt32(sequence >> 32)]
            + [UInt32](repeating: UInt32(truncatingIfNeeded: sequence), count: words - 3)
    }

    private func contents(of ring: EntryRing, after sequence: UInt64 = 0) -> [[UInt32]] {
        ring.places(after: sequence).map { place in
            var copy: [UInt32] = []
            ring.copy(place, to: &copy)
            return copy
        }
    }

    @Test func keepsEntriesInOrderUntilItIsFull() {
        var ring = EntryRing(bytes: 64)
        #expect(ring.isEmpty && ring.oldest == nil)
        for sequence in 1...3 as ClosedRange<UInt64> { ring.append(entry(sequence).span) }
        #expect(contents(of: ring) == [entry(1), entry(2), entry(3)])
        #expect(ring.oldest == 1)
    }

    /// Sixteen words hold three entries of five words.
    @Test func aNewEntryOverwritesAsManyOldOnesAsItNeeds() {
        var ring = EntryRing(bytes: 64)
        for sequence in 1...3 as ClosedRange<UInt64> { ring.append(entry(sequence).span) }
        ring.append(entry(4).span)
        #expect(contents(of: ring) == [entry(2), entry(3), entry(4)])
        ring.append(entry(5, words: 11).span)
        #expect(contents(of: ring) == [entry(4), entry(5, words: 11)])
        ring.append(entry(6, words: 16).span)
        #expect(contents(of: ring) == [entry(6, words: 16)])
    }

    @Test func keepsEntriesOfAllLengthsIntactOverManyRounds() {
        var ring = EntryRing(bytes: 1 << 10)
        for sequence in 1...5_000 as ClosedRange<UInt64> {
            ring.append(entry(sequence, words: 3 + Int(sequence * 7 % 40)).span)
            let last = contents(of: ring, after: sequence - 1)
            #expect(last == [entry(sequence, words: 3 + Int(sequence * 7 % 40))])
        }
        let all = contents(of: ring)
        #expect(all.count > 5 && all.map(\.count).reduce(0, +) <= 256)
        #expect(all.map { $0[1] } == Array(UInt32(5_000 - all.count + 1)...5_000))
    }

    @Test func givesOnlyEntriesAfterASequenceNumber() {
        var ring = EntryRing(bytes: 256)
        let large: UInt64 = 1 << 40
        for sequence in [1, 2, large, large + 1] { ring.append(entry(sequence).span) }
        #expect(contents(of: ring, after: 1).count == 3)
        #expect(contents(of: ring, after: large) == [entry(large + 1)])
        #expect(contents(of: ring, after: large + 1).isEmpty)
    }

    @Test(arguments: [[], [2, 1], [4, 1, 0], [17, 1, 0] + [UInt32](repeating: 0, count: 14)])
    func doesNotAddAnEntryOfAWrongOrTooLargeLength(_ words: [UInt32]) {
        var ring = EntryRing(bytes: 64)
        ring.append(entry(1).span)
        ring.append(words.span)
        #expect(contents(of: ring) == [entry(1)])
    }
}
