import Dispatch

/// Runs `async` work in a task and waits for it.
struct Tasks {
    func run(_ body: @escaping @Sendable () async -> Void) {
        let done = DispatchSemaphore(value: 0)
        Task.detached {
            await body()
            done.signal()
        }
        done.wait()
    }
}
