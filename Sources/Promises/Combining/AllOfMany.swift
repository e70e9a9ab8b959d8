// `all` over members of different types.

extension Node {
    /// A result whose members are seated by `inputSlot`, called once for each member, in order.
    static func all<each Value>(
        _ member: repeat (Node, (each Value).Type), placement: Placement
    ) -> Node {
        typealias Output = (repeat each Value)
        var members = 0
        for _ in repeat each member { members += 1 }
        let result = Node.gathering(Output.self, count: members, placement: placement)
        var (nodes, inputSlots): ([Node], [Node]) = ([], [])
        for (node, type) in repeat each member {
            nodes.append(node)
            inputSlots.append(inputSlot(at: node, type))
        }
        result.write(inputSlots)
        result.gather(inputSlots, at: nodes)
        return result

        func inputSlot<One>(at member: Node, _ type: One.Type) -> Node {
            result.inputSlot(One.self, at: member) { inputSlot in
                if let result = inputSlot.arrive(One.self) { count(inputSlot, for: result) }
            }
        }

        func count(_ inputSlot: Node, for result: Node) {
            if inputSlot.isRejected {
                result.concludeEarly(Result<Output, any Error>.failure(inputSlot.error))
            } else if result.isComplete(Output.self) {
                result.conclude { inputSlots in
                    var rest = inputSlots[...]
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
            placement: first.node.placement))
}

extension LocalContext {
    /// Every value, with its type, or the first error; the others are then withdrawn from.
    ///
    /// Handlers run on the core, in a turn after the member that decides it. Cancelling the
    /// result withdraws from every member that has not arrived.
    public func all<First, each Value>(
        _ first: LocalPromise<First>, _ promise: repeat LocalPromise<each Value>
    ) -> LocalPromise<(First, repeat each Value)> {
        .init(
            Node.all(
                (first.node, First.self), repeat ((each promise).node, (each Value).self),
                placement: placement))
    }
}
