/// Whether the process serves.
enum ProcessPhase: String, Sendable {
    /// Not all workers listen yet.
    case starting
    case serving
    case draining
    case ended
}

/// The phases of a process from its start to its end: events in, the next step out.
struct ProcessLifecycle {
    enum Event {
        /// The last worker listens.
        case allListen
        /// A signal to end.
        case stopRequested
        /// Something that the process needs has failed.
        case failed
        /// The last worker has ended.
        case allEnded
        /// Workers did not end in time.
        case abandoned
    }

    enum Action: Equatable {
        case reportReadiness
        /// Finish the requests in flight.
        case drain
        /// End the workers that run, at once.
        case closeWorkers
        /// End although workers run.
        case abandonWorkers
        /// Export the last spans and end.
        case finish
        /// Drop the spans that wait.
        case stopExport
    }

    private(set) var phase = ProcessPhase.starting

    /// - Parameter runningWorkers: how many workers have not ended
    mutating func handle(_ event: Event, runningWorkers: Int) -> Action? {
        switch (phase, event) {
        case (.starting, .allListen):
            phase = .serving
            return .reportReadiness
        case (.serving, .allListen), (.draining, .allListen), (.ended, .allListen): return nil
        case (.serving, .stopRequested):
            phase = .draining
            return .drain
        // One more signal does not wait for what the first one began.
        case (.ended, .stopRequested): return .stopExport
        case (.starting, .stopRequested), (.draining, .stopRequested), (.starting, .failed),
            (.serving, .failed), (.draining, .failed):
            // Each worker reports its end.
            phase = runningWorkers == 0 ? .ended : .draining
            return runningWorkers == 0 ? .finish : .closeWorkers
        case (.starting, .allEnded), (.serving, .allEnded), (.draining, .allEnded):
            phase = .ended
            return .finish
        case (.starting, .abandoned), (.serving, .abandoned), (.draining, .abandoned):
            phase = .ended
            return .abandonWorkers
        case (.ended, .failed), (.ended, .allEnded), (.ended, .abandoned): return nil
        }
    }
}
