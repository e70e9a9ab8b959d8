import Basics
import Gateway
import HTTP

/// The requests of one worker that have ended, for the page of the admin address: what happened at each
/// endpoint, the remarkable requests of the last time, and, while a page shows them, a sample of the others.
///
/// Two rings of fixed size, so nothing is allocated for a request. Owned by the recorder of its worker;
/// exists only if there is an admin address. No path, query, header or body is recorded.
final class RecentRequests {
    /// Failed, partial, slow and rejected requests: about a thousand with three calls each.
    private var retained = EntryRing(bytes: 256 << 10)
    /// Other requests; allocated when a page shows them for the first time.
    private var sample: EntryRing?
    private var sampleLimit = SampleLimit()
    /// Until when a page shows the sample, in nanoseconds of the loop's clock.
    private var sampledUntil = Int64.min
    /// The number of the latest entry of both rings.
    private var sequence: UInt64 = 0
    /// The entry under construction; keeps its memory.
    private var entry: [UInt32] = []

    /// By the recorder's number of the endpoint; nil before its first request.
    private var activities: [EndpointActivity?] = []
    /// The endpoints of former configurations, while entries of the rings refer to them.
    private var former: [EndpointActivity] = []
    private var elsewhere = EndpointActivity(
        number: 0, RecordedEndpoint(name: "", isPadded: false, calls: []))
    private var nextNumber: UInt32 = 1
    /// The numbers of the present endpoints, in the order of the configuration.
    private var numbers: [Int] = []
    private var names: [RecordedEndpoint] = []

    /// 1 MiB: some four thousand requests with three calls each.
    private static let sampleBytes = 1 << 20
    /// How long a page counts as open after its last query: five times the time between two of them,
    /// at least.
    private static let pageNanoseconds: Int64 = 10_000_000_000

    init() {
        entry.reserveCapacity(512)
    }

    /// A new configuration is in use.
    ///
    /// - Parameter numbers: the recorder's number of each endpoint
    func adopt(_ plan: Plan, numbers: [Int]) {
        self.numbers = numbers
        names = plan.endpointNames.enumerated().map { index, name in
            RecordedEndpoint(name: name, isPadded: plan.isPadded(index), calls: [])
        }
        let count = (numbers.max() ?? -1) + 1
        while activities.count < count { activities.append(nil) }
        removeUnused()
    }

    /// Former endpoints that no entry refers to any more.
    private func removeUnused() {
        let oldest = min(
            retained.oldest ?? .max, sample?.oldest ?? .max)
        former.removeAll { $0.lastSequence < oldest }
    }

    // MARK: Recording

    /// Records a request whose record is complete.
    func record(_ context: RequestContext, status: UInt16, _ outcome: RequestOutcome) {
        let record = context.record
        let ended = record.ended.hasHappened ? record.ended.microseconds : 0
        let now = record.began.nanoseconds &+ Int64(ended) * 1_000
        let activity = activity(of: context, record)
        let reasons = activity.count(record, outcome, at: now)
        let isSample = reasons.isEmpty
        if isSample {
            guard now < sampledUntil, sampleLimit.accepts(second: now / 1_000_000_000)
            else { return }
        }
        sequence += 1
        activity.lastSequence = sequence
        entry.removeAll(keepingCapacity: true)
        RecentEntry.write(
            context, record, status: status, outcome, reasons: reasons,
            endpoint: activity.number, sequence: sequence, to: &entry)
        let words = entry
        if isSample {
            sample?.append(words.span)
        } else {
            retained.append(words.span)
        }
    }

    /// Counts input that never became a request.
    func recordRefusal(at now: Int64) { elsewhere.countRefusal(at: now) }

    private func activity(of context: RequestContext, _ record: RequestRecord) -> EndpointActivity {
        guard let number = context.endpoint, let recorded = record.endpoint,
            activities.indices.contains(number)
        else { return elsewhere }
        if let known = activities[number], known.names === recorded { return known }
        return findActivity(of: recorded, at: number)
    }

    /// The first request of an endpoint, or one around a reload.
    private func findActivity(of recorded: RecordedEndpoint, at number: Int) -> EndpointActivity {
        if let known = activities[number] {
            if known.adopt(recorded) { return known }
            // A request of the former configuration that ends after one of the new.
            if let found = former.first(where: { $0.names === recorded }) {
                return found
            }
            former.append(known)
        }
        let activity = EndpointActivity(number: nextNumber, recorded)
        nextNumber += 1
        activities[number] = activity
        return activity
    }

    // MARK: Reading

    /// The requests after a sequence number, as `RecentQuery.Content.requests` describes them.
    ///
    /// - Parameter now: nanoseconds of the loop's clock
    func list(
        after given: UInt64, max: Int, withSample: Bool, now: Int64, unixTime: Int64
    ) -> RecentRequestList {
        if withSample { showSample(until: now &+ Self.pageNanoseconds) }
        // A number of a former process, which this one has not reached.
        let after = given > sequence ? 0 : given
        var list = RecentRequestList()
        (list.now, list.unixTime) = (now, unixTime)
        list.newest = sequence
        list.sampleOneIn = sampleLimit.oneIn
        let kept = retained.places(after: after)
        let others = withSample ? sample?.places(after: after) ?? [] : []
        let first = kept.suffix(max)
        let second = others.suffix(max - first.count)
        list.skipped = kept.count + others.count - first.count - second.count
        copy(first, second, to: &list)
        addNames(to: &list)
        return list
    }

    private func showSample(until time: Int64) {
        if sample == nil { sample = EntryRing(bytes: Self.sampleBytes) }
        sampledUntil = time
    }

    /// Merges the places of both rings by their sequence numbers.
    private func copy(
        _ first: ArraySlice<EntryRing.Place>, _ second: ArraySlice<EntryRing.Place>,
        to list: inout RecentRequestList
    ) {
        var (first, second) = (first, second)
        while let place = first.first ?? second.first {
            if let other = second.first, other.sequence < place.sequence || first.isEmpty {
                sample?.copy(other, to: &list.words)
                second.removeFirst()
            } else {
                retained.copy(place, to: &list.words)
                first.removeFirst()
            }
        }
    }

    private func addNames(to list: inout RecentRequestList) {
        for activity in activities.compactMap({ $0 }) + former + [elsewhere] {
            list.endpoints[activity.number] = activity.names
        }
    }

    /// What happened at the present endpoints.
    func overview(at now: Int64) -> WorkerOverview {
        var overview = WorkerOverview(elsewhere: elsewhere.overview(at: now))
        for (number, names) in zip(numbers, names) {
            let activity = activities[number]
            overview.endpoints.append(
                activity?.overview(at: now)
                    ?? EndpointOverview(
                        names: names, totals: ActivityTotals(), excess: SIMD8(), window: [],
                        windowSpan: 0))
        }
        return overview
    }
}
