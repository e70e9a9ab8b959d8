import Gateway
import HTTPServer
import TLS

extension ListenPlan {
    /// The server's settings for this listener.
    ///
    /// - Parameter resources: those of the process
    func settings(_ resources: ListenerResources) -> ListenerSettings {
        var settings = ListenerSettings()
        settings.redirect = redirect
        if let tls {
            settings.security =
                resources.replaceSecurity.map { $0(tls.context.settings) }
                ?? tls.context.security(tickets: resources.ticketKeys)
            settings.handshakeTimeout = tls.handshakeTimeout
        }
        return settings
    }
}
