/// The model of `rewrite` of `proxy`: `Location` and cookies of a response, as the client gets them. It is written from
/// the documentation, without the gateway's code.
struct RewriteModel {
    let config: DrawnConfig
    let endpoint: DrawnEndpoint
    let proxy: DrawnProxy

    /// The value of a header field of the host, for the client.
    func value(of name: String, _ value: String) -> String {
        switch name {
        case "Location" where proxy.rewrite.contains("location"): location(value)
        case "Set-Cookie" where proxy.rewrite.contains("cookies"): cookie(value)
        default: value
        }
    }

    private func location(_ value: String) -> String {
        let origin = origins.first { value.hasPrefix("\($0)/") } ?? ""
        return replaced(String(value.dropFirst(origin.utf8.count))) ?? value
    }

    /// With the usual spelling of a path that changes.
    private func cookie(_ line: String) -> String {
        if line.hasPrefix("__Host-") { return line }
        return line.split(separator: "; ").map { attribute in
            guard attribute.lowercased().hasPrefix("path="),
                let path = replaced(String(attribute.dropFirst("path=".utf8.count)))
            else { return String(attribute) }
            return "Path=\(path)"
        }.joined(separator: "; ")
    }

    /// The backend's own, also as it reads them in `Host`.
    private var origins: [String] {
        let hosts = config.streamBackends[proxy.backend].hosts.map { "\($0.host):\($0.port)" }
        return (hosts + (proxy.host == "client" ? [] : [proxy.host].compactMap(\.self)))
            .map { "http://\($0)" }
    }

    /// The path with the beginning of the route's paths; nil for one that stays.
    private func replaced(_ path: String) -> String? {
        let folder = proxy.folder(of: endpoint, config)
        let own = "\(endpoint.path)/"
        if "\(path)/" == folder { return endpoint.path }
        let segments = path.prefix { $0 != "?" }.split(separator: "/")
        guard path.hasPrefix(folder), !segments.contains("..") else { return nil }
        return own + path.dropFirst(folder.utf8.count)
    }
}
