import Reactor
import UVReactor

extension Daemon {
    /// Releases the pages of the program that only a start or a reload uses, when the workers have done
    /// their part of it.
    func releaseUnusedPages() {
        pageRelease?.cancel()
        pageRelease = loop.timer(after: Self.pageReleaseDelay) { ProgramPages.release() }
    }

    private static let pageReleaseDelay = Duration.milliseconds(250)
}
