/// The connections of a pool and the calls that wait for one, at one moment.
package struct PoolUsage: Sendable, Equatable {
    package let idle: Int
    package let inUse: Int
    /// Being made.
    package let connecting: Int
    /// Calls that wait for a connection.
    package let waiting: Int
    /// The host name could not be resolved.
    package let isUnresolved: Bool

    package init(idle: Int, inUse: Int, connecting: Int, waiting: Int, isUnresolved: Bool) {
        self.idle = idle
        self.inUse = inUse
        self.connecting = connecting
        self.waiting = waiting
        self.isUnresolved = isUnresolved
    }
}
