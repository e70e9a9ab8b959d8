import Testing

@testable import HTTPServer

/// The state of a request's body as a plain value.
@Suite struct RequestBodyStateTests {
    private static let all: [RequestBodyState] = [
        .complete, .arriving, .awaitingContinue, .delivering, .paused, .cancelled, .broken,
    ]
    private static let demands: [BodyDemand] = [
        .started(isTimed: false), .paused, .resumed, .cancelled,
    ]

    /// The state after each demand, in the order of `demands`; nil if it does not change.
    private static let table: [[RequestBodyState?]] = [
        [nil, nil, nil, nil],
        [.delivering, nil, nil, nil],
        [.delivering, nil, nil, nil],
        [nil, .paused, nil, .cancelled],
        [nil, nil, .delivering, .cancelled],
        [nil, nil, nil, nil],
        [nil, nil, nil, nil],
    ]

    @Test func followsItsReader() {
        for (state, row) in zip(Self.all, Self.table) {
            for (demand, expected) in zip(Self.demands, row) {
                var next = state
                let hasChanged = next.handle(demand)
                #expect(next == expected ?? state && hasChanged == (expected != nil))
            }
        }
    }

    /// What arrives for a paused body is stored: its end follows when it is resumed.
    @Test func endsOnlyWhileItIsRead() {
        for state in Self.all {
            var (ended, failed) = (state, state)
            let isRead = state == .delivering
            let changes = [ended.end(), failed.fail()]
            #expect(changes == [isRead, isRead])
            #expect(ended == (isRead ? .complete : state))
            #expect(failed == (isRead ? .broken : state))
        }
    }

    @Test("RFC 9110 10.1.1: a body is read whether its client waits for 100 Continue or not")
    func readsABodyWhoseClientWaits() {
        for state in [RequestBodyState.awaitingContinue, .arriving] {
            var read = state
            _ = read.handle(.started(isTimed: false))
            #expect(read == .delivering)
        }
    }
}
