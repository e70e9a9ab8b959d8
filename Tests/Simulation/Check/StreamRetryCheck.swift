import Basics
import Rehearsal
import SimReactor

/// Nothing is sent twice after a byte of the response, or after a byte of the request's body was taken;
/// and no more often than `retry` says.
struct StreamRetryCheck {
    let record: RunRecord
    let models: [StreamModel]
    let violations: ViolationLog

    func check() {
        for model in models where model.attempts.count > 1 { check(model) }
    }

    private func check(_ model: StreamModel) {
        let attempts = model.attempts
        for (former, next) in zip(attempts, attempts.dropFirst()) {
            if let fault = fault(former, next, model) {
                violations.add(
                    .limits, model.mark, "sent again after attempt \(former.key.ordinal): \(fault)")
            }
        }
        let resent = attempts.dropLast().count { $0.before > 0 && $0.responseBegan == nil }
        let allowed = (model.proxy?.retry?.attempts ?? 1) + resent
        if attempts.count > allowed {
            violations.add(
                .limits, model.mark, "\(attempts.count) attempts, \(allowed) are allowed")
        }
    }

    private func fault(
        _ former: StreamAttempt, _ next: StreamAttempt, _ model: StreamModel
    ) -> String? {
        let retry = model.proxy?.retry
        // A body that was read before the attempt was sent is in memory: an idempotent request can be
        // sent again when a reused connection has ended (RFC 9112 9.3.1).
        let wasInMemory = model.stream.requestRead.map { $0 <= former.sentAt } ?? false
        let mayBeResent = former.before > 0 && former.responseBegan == nil && wasInMemory
        if former.received > 0, !mayBeResent { return "a host had received a part of the body" }
        if !Self.repeated.contains(model.request.request.method) { return "the method" }
        if model.stream.script.upload.framing != .none,
            let taken = model.stream.toGateway.read(at: model.stream.bodyStart),
            taken < next.sentAt, model.stream.sent > 0, !mayBeResent
        {
            return "a part of the body was read"
        }
        guard let began = former.responseBegan, began <= next.sentAt else {
            let isAllowed = former.before > 0 || retry?.repeats("terminated") ?? false
            return isAllowed ? nil : "the connection was lost"
        }
        guard let head = former.headRead, head <= next.sentAt else {
            return "a response had begun"
        }
        let status = former.script.status
        return retry?.repeats("\(status)") ?? false ? nil : "it gave \(status)"
    }

    private static let repeated = ["GET", "HEAD", "OPTIONS", "PUT", "DELETE"]
}
