package import Basics
import Synchronization

/// The token buckets of all keys of all rate limits: one table for all workers of a process, which
/// survives reloads.
///
/// 16,384 sets of eight atomic words, 1 MiB. A word is one bucket: 16 bits of the key's hash, 4 bits
/// for the size of the bucket, and 44 bits of its arrival time; the hash also selects the set. A
/// bucket that is full again may be overwritten, because a missing one counts as full: so no entry
/// expires, and nothing sweeps. A set whose eight buckets all have a debt drops the one with the
/// smallest share of its size: by the debt itself, a limit of a day, whose debts last for hours,
/// would evict every key of a limit of a second.
///
/// Usable on all threads, without locks: each change is one exchange of one word. All users must
/// take the time from the same clock, which the loops of a process do. Two keys with the same set
/// and the same 16 bits share a bucket. Two workers that add a key at the same moment may add it
/// twice, so the count is exact to one request per racing worker.
/// Safe: the words live as long as the table, and every index is within them.
@safe package final class LimitCells: Sendable {
    /// What one charge did.
    package struct Charge: Sendable, Equatable {
        package let isGranted: Bool
        /// When the bucket is full again, in the units of `TokenBucket`: after the charge if it is
        /// granted, else as it is without it.
        package let arrival: Int64

        package init(isGranted: Bool, arrival: Int64) {
            self.isGranted = isGranted
            self.arrival = arrival
        }
    }

    private let sets: Int
    nonisolated(unsafe) private let words: UnsafeMutablePointer<Atomic<UInt64>>
    private let dropped = Atomic<Int>(0)

    /// - Parameter sets: a power of two
    package init(sets: Int = 16_384) {
        self.sets = sets
        let count = sets * Self.ways
        let memory = UnsafeMutableRawPointer.allocate(
            byteCount: count * MemoryLayout<UInt64>.stride, alignment: 64)
        // An atomic word has the representation of the word.
        unsafe memory.initializeMemory(as: UInt64.self, repeating: 0, count: count)
        unsafe words = memory.assumingMemoryBound(to: Atomic<UInt64>.self)
    }

    deinit { unsafe UnsafeMutableRawPointer(words).deallocate() }

    /// Charges the bucket of a key, if the bucket allows it.
    ///
    /// - Parameters:
    ///   - key: a keyed hash of the limit and of the key's value
    ///   - slack: how far `raise` may set the arrival time beyond a burst, in units
    package func charge(
        _ key: UInt64, _ cost: Int = 1, of bucket: TokenBucket, slack: Int64 = 0,
        at moment: Instant
    ) -> Charge {
        let now = TokenBucket.time(of: moment)
        while true {
            let place = findPlace(of: key, in: bucket, slack, at: now)
            guard let new = bucket.arrival(charging: cost, to: place.arrival, at: now) else {
                return Charge(isGranted: false, arrival: place.arrival)
            }
            assert(new - now <= bucket.tolerance, "a charge exceeds the burst")
            if replace(place, with: Self.word(key, new, bucket)) {
                if place.dropsLiveKey { dropped.add(1, ordering: .relaxed) }
                return Charge(isGranted: true, arrival: new)
            }
        }
    }

    /// Takes back what is unpaid of a charge that was granted. Without effect if the bucket was dropped
    /// since.
    package func refund(
        _ key: UInt64, _ cost: Int = 1, arrivalAfterCharge: Int64, of bucket: TokenBucket,
        at moment: Instant
    ) {
        let now = TokenBucket.time(of: moment)
        while true {
            let place = findPlace(of: key, at: now)
            guard place.isFound else { return }
            let new = bucket.arrival(
                refunding: cost, arrivalAfterCharge: arrivalAfterCharge, to: place.arrival, at: now)
            if replace(place, with: Self.word(key, max(new, now), bucket)) { return }
        }
    }

    /// Sets the arrival time of a key's bucket if it is later than the present one: another process has
    /// used the same limit.
    ///
    /// - Parameter slack: how far it may be beyond a burst, in units
    package func raise(
        _ key: UInt64, to arrival: Int64, of bucket: TokenBucket, slack: Int64 = 0,
        at moment: Instant
    ) {
        let now = TokenBucket.time(of: moment)
        let aheadMax = min(bucket.tolerance + slack, TokenBucket.horizon)
        let arrival = min(arrival, now + aheadMax)
        while true {
            let place = findPlace(of: key, in: bucket, slack, at: now)
            guard arrival > place.arrival else { return }
            assert(arrival - now <= aheadMax, "a debt beyond the burst and its slack")
            if replace(place, with: Self.word(key, arrival, bucket)) {
                if place.dropsLiveKey { dropped.add(1, ordering: .relaxed) }
                return
            }
        }
    }

    /// The arrival time of a key's bucket; `now` if it is full.
    package func arrival(of key: UInt64, in bucket: TokenBucket, at moment: Instant) -> Int64 {
        findPlace(of: key, in: bucket, at: TokenBucket.time(of: moment)).arrival
    }

    /// Whether a charge would be granted, without charging.
    package func allows(
        _ key: UInt64, _ cost: Int = 1, of bucket: TokenBucket, at moment: Instant
    ) -> Bool {
        let now = TokenBucket.time(of: moment)
        let place = findPlace(of: key, in: bucket, at: now)
        return bucket.arrival(charging: cost, to: place.arrival, at: now) != nil
    }

    // MARK: Usage

    /// How many keys it has room for.
    package var capacity: Int { sets * Self.ways }

    /// The keys whose bucket is not full.
    package func liveKeys(at moment: Instant) -> Int {
        let now = TokenBucket.time(of: moment)
        return (0..<capacity).count { index in
            unsafe Self.debt(of: words[index].load(ordering: .relaxed), at: now) > 0
        }
    }

    /// Keys that lost their debt because their set was full.
    package var droppedKeys: Int { dropped.load(ordering: .relaxed) }

    // MARK: Words

    private static let ways = 8
    private static let timeBits: UInt64 = 44
    private static let timeMask: UInt64 = (1 << timeBits) - 1
    private static let sizeBits: UInt64 = 4
    private static let tagShift = timeBits + sizeBits

    /// Where the bucket of a key is, or the place that it takes.
    private struct Place {
        let index: Int
        /// The word in this place, which the new one replaces.
        let word: UInt64
        let arrival: Int64
        let isFound: Bool
        let dropsLiveKey: Bool
    }

    /// A worker's clock shows the time at the beginning of its loop iteration: the debt that
    /// another worker has added since seems longer by the length of the iteration, and must not be
    /// cut. One minute.
    private static let clockLagMax = 60 * 1_000_000_000 / TokenBucket.unit

    /// The place of a key. A debt that its bucket cannot have is cut first: it is the debt of a former
    /// rate. A word of another size is of another rate for certain, and needs no margin for the clock.
    private func findPlace(
        of key: UInt64, in bucket: TokenBucket, _ slack: Int64 = 0, at now: Int64
    ) -> Place {
        while true {
            let place = findPlace(of: key, at: now)
            let lag = Self.size(ofWord: place.word) == Self.size(of: bucket) ? Self.clockLagMax : 0
            guard place.arrival - now > bucket.tolerance + slack + lag else { return place }
            _ = replace(place, with: Self.word(key, now + bucket.tolerance, bucket))
        }
    }

    /// Searches the set: the word of the key, else the first full bucket, else the one with the
    /// smallest debt for its size.
    private func findPlace(of key: UInt64, at now: Int64) -> Place {
        let first = Int(truncatingIfNeeded: key & UInt64(sets - 1)) * Self.ways
        let tag = Self.tag(key)
        var (index, word, share) = (first, UInt64(0), Int64.max)
        for candidate in first..<(first + Self.ways) {
            let found = unsafe words[candidate].load(ordering: .relaxed)
            let foundDebt = Self.debt(of: found, at: now)
            if found >> Self.tagShift == tag {
                return Place(
                    index: candidate, word: found, arrival: now + foundDebt, isFound: true,
                    dropsLiveKey: false)
            }
            let foundShare = Self.share(foundDebt, of: found)
            if foundShare < share { (index, word, share) = (candidate, found, foundShare) }
        }
        assert(index >= first && index < min(first + Self.ways, capacity), "outside of its set")
        return Place(
            index: index, word: word, arrival: now, isFound: false, dropsLiveKey: share > 0)
    }

    /// False if another thread has changed the word since.
    private func replace(_ place: Place, with word: UInt64) -> Bool {
        unsafe words[place.index].compareExchange(
            expected: place.word, desired: word, ordering: .relaxed
        ).exchanged
    }

    /// Never 0, which is the tag of an empty word.
    private static func tag(_ key: UInt64) -> UInt64 { max(1, key >> tagShift) }

    private static func word(_ key: UInt64, _ arrival: Int64, _ bucket: TokenBucket) -> UInt64 {
        tag(key) << tagShift | size(of: bucket) << timeBits
            | UInt64(bitPattern: arrival) & timeMask
    }

    /// The time of a whole burst as a power of eight, at most 2^42.
    private static func size(of bucket: TokenBucket) -> UInt64 {
        UInt64(Int64.bitWidth - bucket.tolerance.leadingZeroBitCount) / 3
    }

    private static func size(ofWord word: UInt64) -> UInt64 {
        (word >> timeBits) & ((1 << sizeBits) - 1)
    }

    /// The share of its size that a word's debt is, times 2^16; 0 for a full bucket only.
    private static func share(_ debt: Int64, of word: UInt64) -> Int64 {
        guard debt > 0 else { return 0 }
        let size = Int64(size(ofWord: word))
        // The debt is at most the horizon, 2^42.
        return max(1, (debt << 16) >> (3 * size))
    }

    /// How far the word's arrival time is ahead; 0 for a full bucket.
    ///
    /// 44 bits of 10 µs repeat after 5.6 years. No debt is longer than the horizon of `TokenBucket`,
    /// so a larger difference is an old time; so is one of at least half the range.
    private static func debt(of word: UInt64, at now: Int64) -> Int64 {
        let difference = Int64(bitPattern: (word &- UInt64(bitPattern: now)) & timeMask)
        return word == 0 || difference > TokenBucket.horizon ? 0 : difference
    }
}
