import Reactor
import System
import UVReactor

extension Daemon {
    /// Releases what only a start or a reload uses, when the workers have done their part of it: pages of the
    /// program, and the memory of the former configuration, which the allocator would keep.
    func releaseUnusedPages() {
        pageRelease?.cancel()
        pageRelease = loop.timer(after: Self.pageReleaseDelay) {
            ProgramPages.release()
            FreeMemory.trim()
        }
    }

    private static let pageReleaseDelay = Duration.milliseconds(250)
}
