extension Promise {
    /// Waits in a task. Cancelling the task withdraws from the work and throws `Cancelled`.
    public func get() async throws -> Value {
        let waiter = Promise(node.link(Value.self) { $0.inherit(Value.self) })
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                waiter.whenSettled { continuation.resume(with: $0) }
            }
        } onCancel: {
            waiter.cancel(because: CancellationError())
        }
    }
}

extension Guarantee {
    /// Waits in a task.
    public func get() async -> Value {
        await withCheckedContinuation { continuation in
            done { continuation.resume(returning: $0) }
        }
    }
}
