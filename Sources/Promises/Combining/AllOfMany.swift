// `all` over members of different types.

extension Node {
    /// A result whose members are seated by `seat`, called once for each member, in order.
    static func all<each Value>(
        _ member: repeat (Node, (each Value).Type), home: Home
    ) -> Node {
        typealias Output = (repeat each Value)
        var members = 0
        for _ in repeat each member { members += 1 }
        let result = Node.gathering(Output.self, count: members, home: home)
        var (nodes, seats): ([Node], [Node]) = ([], [])
        for (node, type) in repeat each member {
            nodes.append(node)
            seats.append(seat(at: node, type))
        }
        result.write(seats)
        result.gather(seats, at: nodes)
        return result

        func seat<One>(at member: Node, _ type: One.Type) -> Node {
            result.seat(One.self, at: member) { seat in
                if let result = seat.arrive(One.self) { count(seat, for: result) }
            }
        }

        func count(_ seat: Node, for result: Node) {
            if seat.isRejected {
                result.concludeEarly(Result<Output, any Error>.failure(seat.error))
            } else if result.isComplete(Output.self) {
                result.conclude { seats in
                    var rest = seats[...]
                    func next<One>(_ type: One.Type) -> One {
                        rest.removeFirst().value(as: One.self)
                    }
                    return Result<Output, any Error>.success((repeat next((each Value).self)))
                }
            }
        }
    }
}

/// Every value, with its type, or the first error; the others are then withdrawn from.
///
/// Handlers run on the context of the first member, in a turn after the member that decides it.
/// Cancelling the result withdraws from every member that has not arrived.
public func all<First: Sendable, each Value: Sendable>(
    _ first: Promise<First>, _ promise: repeat Promise<each Value>
) -> Promise<(First, repeat each Value)> {
    .init(
        Node.all(
            (first.node, First.self), repeat ((each promise).node, (each Value).self),
            home: first.node.home))
}

extension Core {
    /// Every value, with its type, or the first error; the others are then withdrawn from.
    ///
    /// Handlers run on the core, in a turn after the member that decides it. Cancelling the
    /// result withdraws from every member that has not arrived.
    public func all<First, each Value>(
        _ first: Local<First>, _ promise: repeat Local<each Value>
    ) -> Local<(First, repeat each Value)> {
        .init(
            Node.all(
                (first.node, First.self), repeat ((each promise).node, (each Value).self),
                home: home))
    }
}
