public import Promises

// Combining by operators. A module of its own, because an operator is
// global: import it where you want it.

infix operator &&& : LogicalConjunctionPrecedence
infix operator ||| : LogicalDisjunctionPrecedence

/// Both values, or the first error; the other is then withdrawn from. The same as `all(left,
/// right)`.
///
/// Three give nested pairs, `((a, b), c)`. Handlers run on the left one's context, in a turn after
/// the promise that decides it. Cancelling the result withdraws from both.
public func &&& <Left: Sendable, Right: Sendable>(
    left: Promise<Left>, right: Promise<Right>
) -> Promise<(Left, Right)> {
    all(left, right)
}

/// A promise's value beside one that is there already; its error passes on.
///
/// Handlers run on the promise's context, one turn after it. Cancelling the result withdraws from
/// it.
public func &&& <Left: Sendable, Right: Sendable>(
    left: Promise<Left>, right: Right
) -> Promise<(Left, Right)> {
    left.map { ($0, right) }
}

/// A value that is there already beside a promise's; its error passes on.
///
/// Handlers run on the promise's context, one turn after it. Cancelling the result withdraws from
/// it.
public func &&& <Left: Sendable, Right: Sendable>(
    left: Left, right: Promise<Right>
) -> Promise<(Left, Right)> {
    right.map { (left, $0) }
}

/// The first value; the other is then withdrawn from. `ErrorArray` when both were rejected. The
/// same as `race([left, right])`.
///
/// Handlers run on the left one's context, in a turn after the promise that decides it. Cancelling
/// the result withdraws from both.
public func ||| <Value: Sendable>(
    left: Promise<Value>, right: Promise<Value>
) -> Promise<Value> {
    race([left, right])
}
