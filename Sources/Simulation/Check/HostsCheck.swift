import Basics
import SimReactor

/// A host that is ejected gets no call while another one is left, and one that does not answer its
/// checks gets none at all.
struct HostsCheck {
    let world: World

    func run() {
        // What was known under one configuration, the next may have forgotten.
        guard world.configs.count == 1 else { return }
        let config = world.configs[0]
        for (index, backend) in config.backends.enumerated() {
            guard backend.eject != nil || backend.health != nil else { continue }
            for core in world.cores.map(\.loop.name) {
                let model = HostsModel(of: index, config, on: core, in: world)
                for attempt in world.attempts
                where attempt.backend == index && attempt.core == core {
                    check(attempt, model)
                }
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
