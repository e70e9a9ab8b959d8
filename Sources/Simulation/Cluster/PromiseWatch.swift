import Promises
import Synchronization

/// Hears of promises that were forgotten, for the run that is under way.
///
/// The library tells the whole process; a task-local value says whose run it was, since tests run
/// several at a time.
enum PromiseWatch {
    final class Tally: Sendable {
        private let events = Mutex<[String]>([])

        func add(_ event: String) { events.withLock { $0.append(event) } }

        var all: [String] { events.withLock { $0 } }
    }

    @TaskLocal private static var tally: Tally?

    /// Set once; whoever listened before goes on listening.
    private static let installed: Void = {
        let former = PromiseDiagnostics.setHandler(nil)
        PromiseDiagnostics.setHandler { event in
            former?(event)
            hear(event)
        }
    }()

    @Sendable private static func hear(_ event: PromiseEvent) {
        switch event {
        case .abandoned(let site):
            tally?.add("a promise was abandoned\(site.map { ", made at \($0)" } ?? "")")
        case .resolvedTwice: tally?.add("a promise was resolved twice")
        case .blockingWait: tally?.add("a thread was about to wait")
        case .unhandledRejection, .cauterized: break
        }
    }

    /// What was heard while `body` ran.
    static func watching(_ body: () -> Void) -> [String] {
        installed
        let tally = Tally()
        $tally.withValue(tally) { body() }
        return tally.all
    }
}
