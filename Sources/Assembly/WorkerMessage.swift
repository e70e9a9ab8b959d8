package import Basics

/// A message from the control loop to a worker.
package enum WorkerMessage: Sendable {
    /// Serve this plan of a new configuration.
    case install(CompiledPlan)
    /// From now on close each connection after its response.
    case announceDrain
    /// Leave new connections to another process, which has the same sockets.
    case stopAccepting
    /// Finish the requests in flight, then end.
    case drain
    /// End at once.
    case close
    /// Answer with this number, which shows that the worker receives messages.
    case heartbeat(UInt64)
    /// Log at this level, whatever the configuration says; nil ends that.
    case setLogLevel(Log.Level?)
    /// Send a snapshot to the control loop.
    case takeSnapshot
    /// Send what was recorded about requests that have ended.
    case readRecent(RecentQuery)
}
