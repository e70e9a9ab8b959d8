import Synchronization

/// The number of the last heartbeat that a worker answered.
///
/// A word that both threads reach, not a message: an answer counts as soon as it is there. As a message
/// it would wait for the control loop, which would take its own pause, such as the compilation of a
/// large configuration, for silence of the workers.
final class HeartbeatAnswer: Sendable {
    private let word = Atomic<UInt64>(0)

    var number: UInt64 {
        get { word.load(ordering: .relaxed) }
        set { word.store(newValue, ordering: .relaxed) }
    }
}
