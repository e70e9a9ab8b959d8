import Basics
import Reactor

/// Logs shortages of file descriptors: the first one at once; the shortages of the next ten seconds are
/// counted and reported with the first shortage after them, so that a shortage does not flood the
/// log. Confined to its worker.
final class ShortageLog {
    private static let interval = Duration.seconds(10)

    private let log: Log
    private var last: Instant?
    private var unreported = DescriptorShortages()

    init(_ log: Log) {
        self.log = log
    }

    func record(_ operation: DescriptorShortages.Operation, at now: Instant) {
        switch operation {
        case .accept: unreported.accepts += 1
        case .connect: unreported.connects += 1
        }
        if let last, now - last < Self.interval { return }
        last = now
        log.write(.warning, "out of file descriptors") { line in
            line.add("accepting_paused", unreported.accepts)
            line.add("connections_not_opened", unreported.connects)
        }
        unreported = DescriptorShortages()
    }
}
