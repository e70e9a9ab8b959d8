import YAMLReader

/// The rules for backends.
extension ConfigCheck {
    mutating func checkBackends() {
        var seen: [String: SourceLocation] = [:]
        for backend in config.backends {
            // The decoder has already reported duplicates within one file.
            if let first = seen[backend.name.value], first.file != backend.name.location.file {
                problems.error(
                    at: backend.name.location,
                    "backend '\(backend.name.value)' is already defined at \(first)")
            }
            seen[backend.name.value] = seen[backend.name.value] ?? backend.name.location
            checkTLS(of: backend)
            checkHosts(of: backend)
            checkProtocol(of: backend)
            checkForwarded(of: backend)
            checkDuplicates(in: backend.headers.map(\.name), of: "headers")
        }
    }

    private mutating func checkHosts(of backend: Config.Backend) {
        var seen: [Config.BackendURL] = []
        for host in backend.hosts {
            if seen.contains(host.value) {
                problems.warning(
                    at: host.location, "backend '\(backend.name.value)' has this host twice")
            }
            seen.append(host.value)
        }
        warn("balance", at: backend.balance?.location, needsHostsOf: backend)
    }

    /// Warns of a key that chooses among hosts, for a backend with one host.
    ///
    /// - Parameter location: nil if the backend does not have the key
    mutating func warn(
        _ key: String, at location: SourceLocation?, needsHostsOf backend: Config.Backend
    ) {
        guard let location, backend.hosts.count == 1 else { return }
        problems.warning(
            at: location,
            "'\(key)' has no effect: backend '\(backend.name.value)' has only one host")
    }

    private mutating func checkProtocol(of backend: Config.Backend) {
        let name = backend.name.value
        switch backend.protocolChoice?.value ?? PlanDefaults.backendProtocol {
        case .http2: break
        case .auto:
            guard let location = backend.protocolChoice?.location, backend.plainHost != nil else {
                break
            }
            problems.warning(
                at: location,
                "'auto' is HTTP/1.1 for hosts with http://, since the protocol is chosen in the TLS"
                    + " handshake; write 'http2' if they are known to have it")
        case .http1:
            guard let http2 = backend.http2 else { break }
            problems.warning(
                at: http2.location,
                "'http2' has no effect: backend '\(name)' has 'protocol: http1'")
        }
    }

    /// Reports names that occur twice; header names are compared without regard to case.
    mutating func checkDuplicates(
        in names: [Located<String>], of key: String, ignoringCase: Bool = true
    ) {
        var seen: [String] = []
        for name in names {
            let compared = ignoringCase ? name.value.lowercased() : name.value
            if seen.contains(compared) {
                problems.error(at: name.location, "'\(key)' has '\(name.quoted)' twice")
            }
            seen.append(compared)
        }
    }

    mutating func checkEveryBackendIsCalled() {
        let called = Set(
            config.endpoints.flatMap(\.calls).compactMap(\.from?.value)
                + config.endpoints.compactMap(\.proxy?.to?.value)
                + config.authenticators.compactMap(\.jwt?.keys?.from?.value))
        for backend in config.backends where !called.contains(backend.name.value) {
            problems.warning(
                at: backend.name.location, "backend '\(backend.name.value)' is never called")
        }
    }
}
