import Basics
import Rehearsal

/// An ejected host gets no call while another host is available; a host that fails its health
/// checks gets none at all.
struct HostsCheck {
    let record: RunRecord
    let violations: ViolationLog

    func check() {
        for model in HostsModel.all(of: record) {
            for attempt in record.attempts
            where attempt.backend == model.backend && attempt.worker == model.worker {
                check(attempt, model)
            }
        }
    }

    /// The gateway chose the host between the request's last byte and the call's first.
    private func check(_ attempt: AttemptRecord, _ model: HostsModel) {
        guard let request = record.request(of: attempt),
            let objection = model.objection(
                to: attempt.host, from: request.read ?? request.began, to: attempt.sent)
        else { return }
        violations.add(
            .hosts, attempt.mark,
            "\(attempt.call.text) at host \(attempt.host) of b\(attempt.backend): \(objection)")
    }
}
