import Basics

// The targets of calls as messages show them: without the values of variables and secret files.
extension Plan {
    /// The path and query that a backend received: `/base/one?a=1`. Where a variable may be part of the
    /// path in the URL of the host, the whole URL as configured takes the place of that path.
    ///
    /// - Parameters:
    ///   - call: its index in the endpoint; of no importance where requests are passed through
    ///   - endpoint: its index
    package func shownTarget(_ received: String, of call: Int, in endpoint: Int) -> String {
        let endpoint = endpoints[endpoint]
        let backend = backends[endpoint.proxy?.backend ?? endpoint.calls[call].backend]
        guard let host = backend.host(thatReceived: received) else { return endpoint.name }
        let target = String(received.dropFirst(host.pathPrefix.count))
        return host.shownPrefix
            + (endpoint.proxy?.path.shownTarget(target)
                ?? endpoint.calls[call].shownTarget(target))
    }
}

extension BackendPlan {
    /// The host with the longest path; of equal ones, one whose URL has a variable.
    fileprivate func host(thatReceived target: String) -> Host? {
        hosts.filter { target.hasPrefix($0.pathPrefix) }.max {
            ($0.pathPrefix.count, $0.isConfidential ? 1 : 0)
                < ($1.pathPrefix.count, $1.isConfidential ? 1 : 0)
        }
    }
}

extension BackendPlan.Host {
    fileprivate var isConfidential: Bool { shownURL != url }

    fileprivate var shownPrefix: String {
        isConfidential && !pathPrefix.isEmpty ? shownURL : pathPrefix
    }
}

extension CallPlan {
    /// What was sent, or the template of it where a variable or a secret's file is part of it.
    func shownTarget(_ sent: String) -> String {
        guard let concealed = target.concealed else { return sent }
        return concealed.map { piece in
            switch piece {
            case .literal(let text): String(text)
            case .reference(let reference, _): "{\(reference.name)}"
            }
        }.joined()
    }
}

extension ProxyPath {
    /// What was sent, or `path` as configured and the query where a variable is part of `path`.
    package func shownTarget(_ sent: String) -> String {
        guard isConfidential, let text else { return sent }
        return text + sent.drop { $0 != "?" }
    }
}
