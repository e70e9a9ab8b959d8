package import Reactor
package import TLS

/// What the listeners with TLS of all workers of a process share.
package struct ListenerResources: Sendable {
    /// The keys of the session tickets of clients.
    let ticketKeys = TLSTicketKeys()
    /// Replaces the TLS of listeners; set by the simulation, whose streams carry no TLS bytes.
    package var replaceSecurity: (@Sendable (TLSServerSettings) -> ServerSecurity)?
}
