// `all` over promises of different types.

extension Node {
    /// A result that calls `inputSlot` once for each input, in order.
    static func all<each Value>(
        _ input: repeat (Node, (each Value).Type), placement: Placement
    ) -> Node {
        typealias Output = (repeat each Value)
        var inputCount = 0
        for _ in repeat each input { inputCount += 1 }
        let result = Node.combinatorResult(Output.self, count: inputCount, placement: placement)
        var (nodes, inputSlots): ([Node], [Node]) = ([], [])
        for (node, type) in repeat each input {
            nodes.append(node)
            inputSlots.append(inputSlot(at: node, type))
        }
        result.write(inputSlots)
        result.awaitInputs(inputSlots, at: nodes)
        return result

        func inputSlot<One>(at input: Node, _ type: One.Type) -> Node {
            result.inputSlot(One.self, at: input) { inputSlot in
                if let result = inputSlot.receiveOutcome(One.self) {
                    settle(result, with: inputSlot)
                }
            }
        }

        func settle(_ result: Node, with inputSlot: Node) {
            if inputSlot.isRejected {
                result.concludeEarly(Result<Output, any Error>.failure(inputSlot.error))
            } else if result.countSettledInput(Output.self) {
                result.conclude { inputSlots in
                    var rest = inputSlots[...]
                    func takeValue<One>(_ type: One.Type) -> One {
                        rest.removeFirst().value(as: One.self)
                    }
                    return Result<Output, any Error>.success((repeat takeValue((each Value).self)))
                }
            }
        }
    }
}

/// Every value, with its type, or the first error; the result then withdraws from the others.
///
/// Handlers run on the context of the first input, in a turn after the input that decides it.
/// Cancelling the result withdraws from every input that is still pending.
public func all<First: Sendable, each Value: Sendable>(
    _ first: Promise<First>, _ promise: repeat Promise<each Value>
) -> Promise<(First, repeat each Value)> {
    .init(
        Node.all(
            (first.node, First.self), repeat ((each promise).node, (each Value).self),
            placement: first.node.placement))
}

extension LocalContext {
    /// Every value, with its type, or the first error; the result then withdraws from the others.
    ///
    /// Handlers run on the local context, in a turn after the input that decides it. Cancelling the
    /// result withdraws from every input that is still pending.
    public func all<First, each Value>(
        _ first: LocalPromise<First>, _ promise: repeat LocalPromise<each Value>
    ) -> LocalPromise<(First, repeat each Value)> {
        .init(
            Node.all(
                (first.node, First.self), repeat ((each promise).node, (each Value).self),
                placement: placement))
    }
}
