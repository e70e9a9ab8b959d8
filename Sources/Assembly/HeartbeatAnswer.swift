import Synchronization

/// The number of the last heartbeat that a worker answered.
///
/// An atomic that both threads access, not a message: a message would wait for the control loop,
/// which would mistake a pause of its own, such as the compilation of a large configuration, for
/// workers that do not answer.
final class HeartbeatAnswer: Sendable {
    private let word = Atomic<UInt64>(0)

    var number: UInt64 {
        get { word.load(ordering: .relaxed) }
        set { word.store(newValue, ordering: .relaxed) }
    }
}
