import Testing

@testable import Process

/// The phases of a process, as a table of its events.
@Suite struct ProcessLifecycleTests {
    typealias Event = ProcessLifecycle.Event
    typealias Action = ProcessLifecycle.Action

    /// The action of the last of these events, and the phase after it.
    private func end(
        _ events: [Event], runningWorkers: Int
    ) -> (action: Action?, phase: ProcessPhase) {
        var lifecycle = ProcessLifecycle()
        var action: Action?
        for event in events {
            action = lifecycle.handle(event, runningWorkers: runningWorkers)
        }
        return (action, lifecycle.phase)
    }

    @Test(arguments: [
        ([Event.allListen], Action?.some(.reportReadiness), ProcessPhase.serving),
        ([.allListen, .stopRequested], .drain, .draining),
        ([.allListen, .stopRequested, .allEnded], .finish, .ended),
        // A second signal does not wait for requests, a third one not for the last spans.
        ([.allListen, .stopRequested, .stopRequested], .closeWorkers, .draining),
        ([.allListen, .stopRequested, .allEnded, .stopRequested], .stopExport, .ended),
        // A signal before the last worker listens.
        ([.stopRequested], .closeWorkers, .draining),
        ([.stopRequested, .allListen], nil, .draining),
        // A worker fails: the others end first.
        ([.failed], .closeWorkers, .draining), ([.allListen, .failed], .closeWorkers, .draining),
        ([.failed, .allEnded], .finish, .ended),
        // Workers end on their own.
        ([.allListen, .allEnded], .finish, .ended),
        // A worker hangs.
        ([.allListen, .stopRequested, .abandoned], .abandonWorkers, .ended),
    ])
    func eventsOfAProcessWithWorkers(
        _ events: [Event], _ action: Action?, _ phase: ProcessPhase
    ) {
        let end = end(events, runningWorkers: 1)
        #expect(end.action == action)
        #expect(end.phase == phase)
    }

    /// Such as an address in use, before the first worker starts.
    @Test(arguments: [Event.failed, .stopRequested])
    func withoutAWorkerTheProcessEndsAtOnce(_ event: Event) {
        let end = end([event], runningWorkers: 0)
        #expect(end.action == .finish)
        #expect(end.phase == .ended)
    }

    /// The two deadlines of a drain that a second signal cuts short, and reports that come late.
    @Test(arguments: [Event.abandoned, .allEnded, .failed, .allListen])
    func theProcessEndsOnce(_ event: Event) {
        for workers in [0, 1] {
            let end = end([.allListen, .stopRequested, .abandoned, event], runningWorkers: workers)
            #expect(end.action == nil)
            #expect(end.phase == .ended)
        }
    }
}
