package import Basics
package import Promises

/// What the exchanges of a worker share. One object, so that an exchange holds one reference for all of
/// it. Confined to its worker.
package final class ExchangeResources {
    /// Makes promises on the worker.
    package let local: LocalContext
    /// Limits the memory of the exchanges; nil without a limit.
    let budget: ByteBudget?
    /// Ends exchanges that wait for their clients, because a limit is short; set by their server.
    package var makeRoom: (() -> Void)?

    package init(local: LocalContext, budget: ByteBudget? = nil) {
        self.local = local
        self.budget = budget
    }
}
