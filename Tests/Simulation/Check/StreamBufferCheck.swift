import Basics
import SimReactor

/// An attempt keeps few bytes in each direction, however slowly the other side reads: it stops to read when
/// 64 KiB are unsent, and what it has read until then is at most what the network has kept for it.
struct StreamBufferCheck {
    let record: RunRecord
    let models: [StreamModel]
    let violations: ViolationLog

    func check() {
        let most = 128 * 1024 + record.network.windowBytes
        for model in models {
            let kept =
                [("client", model.stream.fromGateway.unsentMax)]
                + model.attempts.map { ("host", $0.fromGateway.unsentMax) }
            for (peer, count) in kept where count > most {
                violations.add(
                    .streams, model.mark,
                    "the gateway kept \(count) bytes for a \(peer) that reads slowly, more than \(most)"
                )
            }
        }
    }
}
