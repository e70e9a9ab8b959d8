/// One worker as `WorkerMonitor` reaches it: with messages, none of which waits for the worker.
package protocol MonitoredWorker: AnyObject {
    /// Its number, from 0.
    var index: Int { get }

    /// Whether it has ended, so that no answer is expected.
    var hasEnded: Bool { get }

    /// Sends a heartbeat message.
    func sendHeartbeat(_ number: UInt64)

    /// The last heartbeat that the worker answered.
    var answeredHeartbeat: UInt64 { get }

    /// Asks for a snapshot, which the worker delivers to `WorkerMonitor.received`.
    func requestSnapshot()
}
