package import Basics
package import HTTP

/// Where a request arrives: the host that it names, and the listener of its connection.
package struct RequestPlace {
    /// Host and port, as the client sent them; nil without a host.
    var authority: Bytes?
    /// The address of the listener, as configured; nil if it has none.
    var listener: String?

    package init(authority: Bytes? = nil, listener: String? = nil) {
        self.authority = authority
        self.listener = listener
    }
}

extension RequestHead {
    /// Host and port: an absolute target takes precedence over `Host` (RFC 9112 3.2.2). Nil without
    /// either, which HTTP/1.0 permits.
    package var authority: Bytes? { target.authority ?? fields[.host]?.bytes }
}
