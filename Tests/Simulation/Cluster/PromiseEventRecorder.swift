import Promises

/// Records promises that are abandoned or resolved twice, for the current run.
///
/// The library reports events of the whole process; a task-local value assigns them to a run, since
/// tests run several at a time.
enum PromiseEventRecorder {
    final class Events: Sendable {
        private let events = Guarded<[String]>([])

        func add(_ event: String) { events.withLock { $0.append(event) } }

        var all: [String] { events.withLock { $0 } }
    }

    @TaskLocal private static var current: Events?

    /// Installs the handler once; the previous one is still called.
    private static let installed: Void = {
        let former = PromiseDiagnostics.setHandler(nil)
        PromiseDiagnostics.setHandler { event in
            former?(event)
            record(event)
        }
    }()

    @Sendable private static func record(_ event: PromiseEvent) {
        switch event {
        case .abandoned(let site):
            current?.add("a promise was abandoned\(site.map { ", made at \($0)" } ?? "")")
        case .resolvedTwice: current?.add("a promise was resolved twice")
        case .blockingWait: current?.add("a promise would have blocked the thread")
        case .unhandledRejection, .cauterized: break
        }
    }

    /// The events while `body` runs.
    static func recording(_ body: () -> Void) -> [String] {
        installed
        let recorded = Events()
        $current.withValue(recorded) { body() }
        return recorded.all
    }
}
