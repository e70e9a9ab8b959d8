/// The permissions of a unix socket's file, which decide who may connect.
package struct SocketFileAccess: Sendable, Equatable {
    /// The permission bits; nil leaves them to the umask.
    package let mode: UInt16?

    /// The id of the group that owns the file; nil leaves the process's group.
    package let group: UInt32?

    package init(mode: UInt16? = nil, group: UInt32? = nil) {
        self.mode = mode
        self.group = group
    }
}
