import Reactor
import System

/// Releases what only a start or a reload uses, when the workers have done their part of it: pages of the
/// program, and the memory of the former configuration, which the allocator would keep.
final class IdleMemory {
    private let loop: any Loop
    private var timer: Timer?

    private static let delay = Duration.milliseconds(250)

    init(on loop: any Loop) {
        self.loop = loop
    }

    /// Called after the start and after each reload.
    func releaseSoon() {
        timer?.cancel()
        timer = loop.timer(after: Self.delay) {
            ProgramPages.release()
            FreeMemory.trim()
        }
    }

    func close() { timer?.cancel() }
}
