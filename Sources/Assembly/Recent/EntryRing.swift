/// The latest entries in a fixed amount of memory: a new entry overwrites as many of the oldest as it
/// needs. An entry is a run of words; the first one is its length, the next two its sequence number.
struct EntryRing {
    /// One entry of the ring.
    struct Place {
        /// Counted from the first word that was ever written.
        fileprivate let start: Int
        let wordCount: Int
        let sequence: UInt64
    }

    /// The words before the content of an entry.
    static let headWords = 3

    /// A power of two of them.
    private var words: [UInt32]
    /// The first word of the oldest entry, and the one after the newest; neither wraps.
    private var begin = 0
    private var end = 0

    /// - Parameter bytes: rounded up to a power of two
    init(bytes: Int) {
        var count = 16
        while count * 4 < bytes { count *= 2 }
        words = [UInt32](repeating: 0, count: count)
    }

    private var mask: Int { words.count - 1 }

    var isEmpty: Bool { begin == end }

    /// The sequence number of the oldest entry.
    var oldest: UInt64? { isEmpty ? nil : sequence(at: begin) }

    /// Adds an entry; one with a wrong length, or longer than the ring, is not added.
    mutating func append(_ entry: borrowing Span<UInt32>) {
        guard entry.count >= Self.headWords, entry.count <= words.count,
            Int(entry[0]) == entry.count
        else { return }
        while end + entry.count - begin > words.count { begin += Int(words[begin & mask]) }
        for index in entry.indices { words[(end + index) & mask] = entry[index] }
        end += entry.count
    }

    /// The entries with a higher sequence number, the oldest first.
    func places(after sequence: UInt64) -> [Place] {
        var places: [Place] = []
        var start = begin
        while start < end {
            let place = Place(
                start: start, wordCount: Int(words[start & mask]),
                sequence: self.sequence(at: start))
            if place.sequence > sequence { places.append(place) }
            start += place.wordCount
        }
        return places
    }

    /// Copies an entry of this ring, which must not have changed since `places`.
    func copy(_ place: Place, to copy: inout [UInt32]) {
        for index in 0..<place.wordCount { copy.append(words[(place.start + index) & mask]) }
    }

    private func sequence(at start: Int) -> UInt64 {
        UInt64(words[(start + 1) & mask]) | UInt64(words[(start + 2) & mask]) << 32
    }
}
