import Basics
import Rehearsal

/// `auth_failures` counts the refused credentials of each address, over all workers and reloads: no
/// address gets more refusals than the rate allows, the others get 429, and no password is checked while
/// the bucket of its address is empty.
struct AuthFailuresCheck {
    let record: RunRecord
    let violations: ViolationLog

    func check() {
        guard let rate = record.configs[0].authFailureRate else { return }
        let bucket = BucketModel(burst: rate.count, interval: rate.interval)
        let uses = record.requests.compactMap { $0.map(use) }
        for key in Set(uses.flatMap(\.keys)).sorted() {
            checkCounted(uses.filter { $0.keys == [key] && $0.isCounted }, bucket, key)
        }
        for use in uses {
            if use.isRefused { checkRefusal(use, among: uses, bucket) }
            if use.provesPassword { checkPassword(use, among: uses, bucket) }
        }
    }

    private struct Use {
        let request: RequestRecord
        /// By which it counts, under each configuration that may have applied.
        let keys: Set<String>
        /// When it was counted, if it was.
        let charge: BucketModel.Charge
        /// It was certainly counted at least once.
        let isCounted: Bool
        /// How often it may have been counted.
        let countMax: Int
        /// It was refused by this limit.
        let isRefused: Bool
        /// Its response, or its first call, shows that its password was checked.
        let provesPassword: Bool
    }

    private func use(of request: RequestRecord) -> Use {
        // A request without a response may have been counted, too.
        let configs = request.responded == nil ? record.configs : record.configs(for: request)
        let models = configs.map { AuthFailuresModel(request: request.request, config: $0) }
        let isRefused = record.limitRefusal(of: request) == .authFailures
        let decided =
            record.firstSent(for: request)?.at ?? request.responded ?? record.ended
        let reason = reason(request)
        return Use(
            request: request, keys: Set(models.map(\.key)),
            charge: BucketModel.Charge(
                cost: 1, earliest: seconds(request.firstRead ?? request.began),
                latest: seconds(decided)),
            isCounted: reason.map(AuthFailuresModel.isCounted) ?? false
                && models.allSatisfy { $0.count > 0 },
            countMax: models.map(\.count).max() ?? 0, isRefused: isRefused,
            provesPassword: models.allSatisfy(\.needsPassword)
                && (record.firstSent(for: request) != nil
                    || ["expired", "scope", "claims"].contains(reason))
        )
    }

    /// The gateway's own reason; backends may respond with the same statuses.
    private func reason(_ request: RequestRecord) -> String? {
        guard let response = request.response, record.firstSent(for: request) == nil else {
            return nil
        }
        return Tree(reading: response.body)?["reason"]?.string
    }

    // MARK: Rules

    /// All of these have one key.
    private func checkCounted(_ uses: [Use], _ bucket: BucketModel, _ key: String) {
        guard let excess = bucket.excess(in: uses.map(\.charge)) else { return }
        violations.add(
            .auth, uses[excess.last].request.mark,
            "\(Int(excess.cost)) credentials of \(key) were refused without a 429 within"
                + " \(excess.seconds) s, with auth_failures of \(bucket.burst)")
    }

    private func checkRefusal(_ refused: Use, among uses: [Use], _ bucket: BucketModel) {
        let others = uses.filter { use in
            use.request.number != refused.request.number && use.countMax > (use.isRefused ? 1 : 0)
                && use.charge.earliest <= refused.charge.latest
                && !use.keys.isDisjoint(with: refused.keys)
        }
        // None of them counted after the refusal.
        let charges = others.map { use in
            // The last one of a refused request was refused itself.
            BucketModel.Charge(
                cost: Double(use.countMax - (use.isRefused ? 1 : 0)), earliest: use.charge.earliest,
                latest: min(use.charge.latest, refused.charge.latest))
        }
        let cost = Double(max(1, refused.countMax))
        if bucket.mustGrant(cost, at: refused.charge.earliest, after: charges) {
            violations.add(
                .auth, refused.request.mark,
                "auth_failures refused a request, and at most \(others.count) others of its"
                    + " address counted, with a burst of \(bucket.burst)")
        }
        checkResponse(refused, bucket)
    }

    private func checkResponse(_ refused: Use, _ bucket: BucketModel) {
        let mark = refused.request.mark
        let wait = refused.request.response?["Retry-After"].flatMap { Int($0) } ?? 0
        if wait < 1 || Double(wait) > max(1, bucket.interval.rounded(.up)) {
            violations.add(.auth, mark, "auth_failures refused with Retry-After \(wait)")
        }
        if record.firstSent(for: refused.request) != nil {
            violations.add(.auth, mark, "a request beyond auth_failures was sent to a backend")
        }
    }

    /// The bucket must have been empty if all that certainly counted before did so as early as possible.
    private func checkPassword(_ checked: Use, among uses: [Use], _ bucket: BucketModel) {
        let before = uses.filter { use in
            use.isCounted && use.keys == checked.keys && use.keys.count == 1
                && use.charge.latest < checked.charge.earliest
        }
        guard bucket.mustRefuse(1, at: checked.charge.latest, after: before.map(\.charge)) else {
            return
        }
        violations.add(
            .auth, checked.request.mark,
            "a password was checked although \(before.count) credentials of its address were"
                + " refused, with auth_failures of \(bucket.burst)")
    }

    private func seconds(_ time: Instant) -> Double { (time - record.began).inMilliseconds / 1000 }
}
