import Dispatch

/// Runs asynchronous work of Swift's own and waits for it.
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
