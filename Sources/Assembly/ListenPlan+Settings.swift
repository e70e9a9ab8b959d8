import Gateway
import HTTPServer
import TLS

extension ListenPlan {
    /// The server's settings for this listener.
    ///
    /// - Parameter resources: the resources of the process
    func settings(_ resources: ListenerResources) -> ListenerSettings {
        var settings = ListenerSettings()
        settings.name = address.spelled
        settings.redirect = redirect
        settings.protocols = Set(protocols.map(\.applicationProtocol))
        if let tls {
            settings.security =
                resources.replaceSecurity.map { $0(tls.context.settings) }
                ?? tls.context.security(tickets: resources.ticketKeys)
            settings.handshakeTimeout = tls.handshakeTimeout
        }
        return settings
    }
}

extension Config.ClientProtocol {
    fileprivate var applicationProtocol: ApplicationProtocol {
        switch self {
        case .http1: .http1
        case .http2: .http2
        }
    }
}
