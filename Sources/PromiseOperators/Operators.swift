public import Promises

// Operators that combine promises. A separate module, because operators are global: import it where
// you use them.

infix operator &&& : LogicalConjunctionPrecedence
infix operator ||| : LogicalDisjunctionPrecedence

/// Both values, or the first error; the result then withdraws from the other. The same as
/// `all(left, right)`.
///
/// Three promises give nested pairs, `((a, b), c)`. Handlers run on the left one's context, in a
/// turn after the promise that decides it. Cancelling the result withdraws from both.
public func &&& <Left: Sendable, Right: Sendable>(
    left: Promise<Left>, right: Promise<Right>
) -> Promise<(Left, Right)> {
    all(left, right)
}

/// A promise's value and a plain value; the promise's error passes on.
///
/// Handlers run on the promise's context, one turn after it. Cancelling the result withdraws from
/// it.
public func &&& <Left: Sendable, Right: Sendable>(
    left: Promise<Left>, right: Right
) -> Promise<(Left, Right)> {
    left.map { ($0, right) }
}

/// A plain value and a promise's value; the promise's error passes on.
///
/// Handlers run on the promise's context, one turn after it. Cancelling the result withdraws from
/// it.
public func &&& <Left: Sendable, Right: Sendable>(
    left: Left, right: Promise<Right>
) -> Promise<(Left, Right)> {
    right.map { (left, $0) }
}

/// The first value; the result then withdraws from the other. `ErrorArray` when both were rejected.
/// The same as `race([left, right])`.
///
/// Handlers run on the left one's context, in a turn after the promise that decides it. Cancelling
/// the result withdraws from both.
public func ||| <Value: Sendable>(
    left: Promise<Value>, right: Promise<Value>
) -> Promise<Value> {
    race([left, right])
}
