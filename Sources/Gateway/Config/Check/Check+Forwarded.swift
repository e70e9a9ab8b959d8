import HTTP
import YAMLReader

/// The rules for forwarding headers.
extension ConfigCheck {

    /// `headers` must not set a header that `forwarded` sends.
    mutating func checkForwarded(of call: Config.Call, in endpoint: Config.Endpoint) {
        let called = call.from.flatMap { self.backend(named: $0.value) }
        let mode = config.forwarded(of: call, to: called).value
        var names = config.headers(of: call, in: endpoint).map { $0.name }
        if call.forwarded != nil, let called { names += called.headers.map { $0.name } }
        for name in names where mode.sends(name.value) {
            problems.error(
                at: name.location,
                "'headers' has '\(name.quoted)', which 'forwarded' of call"
                    + " '\(call.name.value)' sends")
        }
    }

    mutating func checkForwarded(of backend: Config.Backend) {
        guard let mode = backend.forwarded?.value else { return }
        for header in backend.headers where mode.sends(header.name.value) {
            problems.error(
                at: header.name.location,
                "'headers' has '\(header.name.quoted)', which 'forwarded' of backend"
                    + " '\(backend.name.value)' sends")
        }
    }

    /// Warns of forwarding headers in `forward`, because any client can send them.
    mutating func checkForward(_ forward: Config.Forward?) {
        let source = config.clients?.addressFrom?.value ?? PlanDefaults.addressFrom
        for name in forward?.headers ?? [] where HeaderSyntax.isForwarding(name.value) {
            problems.warning(
                at: name.location,
                source.maintains(name.value)
                    ? "'\(name.quoted)' is forwarded from trusted proxies only; 'forwarded' sends the"
                        + " client's address"
                    : "'\(name.quoted)' is never forwarded: with 'address_from: \(source.rawValue)' the"
                        + " trusted proxies do not maintain it; 'forwarded' sends the client's"
                        + " address")
        }
    }
}

extension Config.Forwarded {
    fileprivate func sends(_ name: String) -> Bool {
        FieldName(name).map(names.contains) ?? false
    }
}
