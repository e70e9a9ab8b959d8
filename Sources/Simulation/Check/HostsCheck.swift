import Basics
import SimReactor

/// A host that is ejected gets no call while another one is left, and one that does not answer its
/// checks gets none at all.
struct HostsCheck {
    let world: World

    func run() {
        for model in HostsModel.all(of: world) {
            for attempt in world.attempts
            where attempt.backend == model.backend && attempt.core == model.core {
                check(attempt, model)
            }
        }
    }

    /// The host was chosen at some moment between the request's last byte and the call's first.
    private func check(_ attempt: Attempt, _ model: HostsModel) {
        guard let number = Int(attempt.mark.dropFirst()), let request = world.requests[number],
            let objection = model.objection(
                to: attempt.host, from: request.read ?? request.began, to: attempt.sent)
        else { return }
        world.violation(
            .hosts, attempt.mark,
            "\(attempt.call.text) at host \(attempt.host) of b\(attempt.backend): \(objection)")
    }
}
