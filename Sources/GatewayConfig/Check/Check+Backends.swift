import YAMLReader

extension ConfigCheck {
    mutating func checkBackends() {
        var seen: [String: SourceLocation] = [:]
        for backend in config.backends {
            // Within one file the decoder has found it already.
            if let first = seen[backend.name.value], first.file != backend.name.location.file {
                problems.error(
                    at: backend.name.location,
                    "backend '\(backend.name.value)' is already at \(first)")
            }
            seen[backend.name.value] = seen[backend.name.value] ?? backend.name.location
            checkTLS(of: backend)
            checkHosts(of: backend)
            checkForwarded(of: backend)
            checkDoubles(in: backend.headers.map(\.name), of: "headers")
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
        if let queue = backend.queue, backend.maxConcurrent == nil, wasRead {
            problems.warning(
                at: queue.location, "nothing ever waits in 'queue' without 'max_concurrent'")
        }
        guard backend.hosts.count == 1 else { return }
        for location in [backend.eject?.location, backend.balance?.location] {
            guard let location else { continue }
            problems.warning(
                at: location, "backend '\(backend.name.value)' has one host; this needs several")
        }
    }

    /// Header names are the same in any case.
    mutating func checkDoubles(in names: [Located<String>], of key: String) {
        var seen: [String] = []
        for name in names {
            let lowercased = name.value.lowercased()
            if seen.contains(lowercased) {
                problems.error(at: name.location, "'\(key)' has '\(name.quoted)' twice")
            }
            seen.append(lowercased)
        }
    }

    mutating func checkEveryBackendIsCalled() {
        let called = Set(config.endpoints.flatMap(\.calls).compactMap(\.from?.value))
        for backend in config.backends where !called.contains(backend.name.value) {
            problems.warning(
                at: backend.name.location, "backend '\(backend.name.value)' is never called")
        }
    }
}
