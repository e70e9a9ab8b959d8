import Basics
import Reactor

/// Reports to the service manager at intervals that the process works, as long as it does.
///
/// Owned by the daemon, on the control loop. That the timer fires shows that the control loop works;
/// `isAlive` says whether the workers do. If either hangs, the messages stop and the manager restarts
/// the process.
final class ServiceWatchdog {
    /// Whether the process works.
    struct Health {
        /// What does not work, or nil.
        let problem: () -> String?
        /// Whether the process can go on.
        let isAlive: () -> Bool
        /// The description of the state without a problem.
        let healthy: () -> String
    }

    private let loop: any Loop
    private let notifier: ServiceNotifier
    private let health: Health
    private let sendsPings: Bool
    private let interval: Duration
    private var hadProblem = false
    private var timer: Timer?

    /// Between two looks at the workers where the manager expects no messages, and the longest time in
    /// any case: the description of the state is at most this old.
    private static let intervalMax = Duration.seconds(2)

    /// A shorter limit is a mistake in the unit, and must not load the processor.
    private static let intervalMin = Duration.milliseconds(10)

    /// - Parameter limit: the longest time between two messages that the manager accepts; nil if it
    ///   expects none
    init(loop: any Loop, limit: Duration?, notifier: ServiceNotifier, health: Health) {
        self.loop = loop
        self.notifier = notifier
        self.health = health
        sendsPings = limit != nil
        interval = max(Self.intervalMin, min((limit ?? Self.intervalMax) / 2, Self.intervalMax))
    }

    /// Sends the first message now.
    func start() {
        check()
        timer = loop.timer(after: interval) { [weak self] in self?.start() }
    }

    func close() { timer?.cancel() }

    private func check() {
        let problem = health.problem()
        // Only a change is described, so that the description of a reload or a drain stays.
        if problem != nil || hadProblem { notifier.describe(problem ?? health.healthy()) }
        hadProblem = problem != nil
        if sendsPings, health.isAlive() { notifier.ping() }
    }
}
