public import Synchronization

/// What combinators are made of.
///
/// A *seat* waits for one member and keeps its outcome. The *result* holds the seats, counts them
/// down as they arrive, and lets go of the missing ones when it is settled early or cancelled.
///
/// On a core a member can be its own seat, for one result at a time: nothing is allocated for it, and
/// it tells the result when it is settled.
extension Node {
    /// A pending result. Until it is settled its tail holds the seats, and behind them the count.
    @inlinable
    static func gathering<Value>(_ type: Value.Type, count: Int, home: Home) -> Node {
        let result = make(
            Value.self, home: home, claim: Claim.root | Claim.gathering, extraWords: 1)
        unsafe (result.cells + 2 + words(Value.self)).initialize(to: Atomic(UInt(count)))
        return result
    }

    /// A seat of this result at a member. Its step begins with `arrive`.
    @inlinable
    func seat<Value>(
        _ type: Value.Type, at member: Node, _ step: @escaping (_ seat: Node) -> Void
    ) -> Node {
        // Observed, because the result answers for the errors that its seats keep.
        let seat = Node.bare(Value.self, claim: Claim.observed, extraWords: 0)
        unsafe seat.header.pointee.home = unsafe header.pointee.home
        seat.setParent(member)
        seat.setStep(step)
        if member.isNoted { PromiseDiagnostics.note(seat, asChildOf: member) }
        seat.result = self
        return seat
    }

    /// In a seat's step: takes the member's outcome, and gives the result that waits for it.
    @inlinable
    func arrive<Value>(_ type: Value.Type) -> Node? {
        let result = result
        self.result = nil
        inherit(Value.self)
        return result
    }

    /// Begins to wait, and arranges that cancelling the result lets go of the members.
    @inlinable
    func gather(_ seats: [Node], at members: [Node]) {
        setStep { result in result.release(seats) }
        _ = claim.insert(Claim.started)
        Node.wait(seats, at: members)
    }

    /// Lets each seat wait for its member.
    ///
    /// All are counted before the first one can arrive: one that arrives may decide the result, which
    /// then withdraws from every other member, on another thread perhaps. From then on a seat's
    /// parent belongs to the one who withdraws, so the members are not looked up there.
    @inlinable
    static func wait(_ seats: [Node], at members: [Node]) {
        for member in members { _ = member.claim.add(Claim.consumer) }
        for (seat, member) in zip(seats, members) { member.push(seat) }
    }

    /// Lets go of the members that have not arrived.
    @usableFromInline
    func release(_ seats: [Node]) {
        let reason = reasonToLeave
        for seat in seats {
            if seat.isConfined { seat.result = nil }
            seat.cancel(with: reason)
        }
    }

    /// Why a result lets go of its members.
    private var reasonToLeave: any Error {
        isRejected && error.isCancellation ? error : Cancelled()
    }

    // MARK: Members that are their own seats.

    /// Says what this result does when such a member has arrived.
    @inlinable
    func onArrival(_ body: @escaping (_ result: Node) -> Void) { keep(Observe<Node>(body)) }

    /// Lets this member be its own seat. False where it cannot: it is not confined, has an outcome
    /// already, or sits in another result.
    @inlinable
    func sitsForItself(in result: Node) -> Bool {
        guard isConfined, result.isConfined, isPending, self.result == nil else { return false }
        // Observed, because the result answers for its error.
        _ = claim.insert(Claim.observed)
        _ = claim.add(Claim.consumer)
        self.result = result
        return true
    }

    /// Withdraws a result in which this member sits, unless it has arrived.
    @usableFromInline
    func standUp(from result: Node) {
        guard let own = self.result, own === result else { return }
        self.result = nil
        // It has no node on the stack that would have to be swept away.
        _ = claim.add(0 &- Claim.withdrawn)
        withdraw(with: result.reasonToLeave)
    }

    /// When this node is settled: it has arrived where it sits.
    func arriveAsSeat() {
        guard let result = unsafe header.pointee.result.take() else { return }
        if let arrival = unsafe result.handlerPlace(Observe<Node>.self).pointee {
            arrival.call(result)
        }
    }

    /// Settles this result with `step`; on a core in a turn of its own, because a member that is its
    /// own seat arrives while it is settled: so results of results are not nested, and whoever waited
    /// for that member before this result did hears of it before.
    @usableFromInline
    func concludeSoon(_ step: @escaping (Node) -> Void) {
        guard isConfined else { return step(self) }
        // Nothing is left to let go of.
        let before = claim.remove(Claim.started)
        guard before & Claim.decided == 0 else { return }
        setStep(step)
        enqueue(NodeRef(retaining: self))
    }

    // MARK: Concluding.

    /// Counts one seat; true when it was the last.
    @inlinable
    func isComplete<Value>(_ type: Value.Type) -> Bool {
        let count = unsafe Word(cells + 2 + Node.words(Value.self), isConfined: isConfined)
        return count.add(0 &- 1) == 0
    }

    /// Settles with what the seats brought, unless the result was settled before.
    @inlinable
    func conclude<Value>(_ outcome: ([Node]) -> Result<Value, any Error>) {
        guard decide() else { return }
        let seats = moveValue(as: [Node].self)
        switch outcome(seats) {
        case .success(let value):
            write(value)
            publish(State.fulfilled)
        case .failure(let error):
            write(error: error)
            publish(State.rejected)
        }
    }

    /// Settles before all seats have arrived, and lets go of the rest.
    @inlinable
    func concludeEarly<Value>(_ outcome: Result<Value, any Error>) {
        guard decide() else { return }
        let seats = moveValue(as: [Node].self)
        switch outcome {
        case .success(let value):
            write(value)
            publish(State.fulfilled)
        case .failure(let error):
            write(error: error)
            publish(State.rejected)
        }
        release(seats)
    }
}
