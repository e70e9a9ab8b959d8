/// A message of the control loop to a worker.
package enum WorkerMessage: Sendable {
    /// Compile the configuration and serve it.
    case install(RecordedConfig)
    /// Every response from now on closes its connection.
    case announceDrain
    /// Finish the requests in flight, then end.
    case drain
    /// End at once.
    case close
    /// Show that messages are received: answer with this number.
    case heartbeat(UInt64)
    /// Send a snapshot to the control loop.
    case takeSnapshot
}
