import Gateway
import HTTPServer
import TLS

extension ListenPlan {
    /// The server's settings for this listener.
    ///
    /// - Parameter ticketKeys: those of the process
    func settings(_ ticketKeys: TLSTicketKeys) -> ListenerSettings {
        var settings = ListenerSettings()
        settings.redirect = redirect
        if let tls {
            settings.security = tls.context.security(tickets: ticketKeys)
            settings.handshakeTimeout = tls.handshakeTimeout
        }
        return settings
    }
}
