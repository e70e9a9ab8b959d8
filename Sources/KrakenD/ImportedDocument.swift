import YAMLReader

/// The generated configuration, with the findings as comments.
struct ImportedDocument {
    /// The name of the service.
    let name: String?
    /// The location of the beginning of the imported file.
    let location: SourceLocation
    /// The findings about the service; each endpoint has its own findings.
    var findings: ImportFindings
    private(set) var members: [(String, YAMLTree)]
    private var limits: KrakenDRateLimits
    private let backends: KrakenDBackends
    private(set) var endpoints: [ImportedEndpoint]
    /// Comments that follow the configuration: the contents of other files.
    private let trailer: [YAMLLine]
    /// Replaces a member where the document is checked.
    private let checkedMembers: [String: YAMLTree]

    init(
        name: String?, location: SourceLocation, findings: ImportFindings,
        members: [(String, YAMLTree)], limits: KrakenDRateLimits,
        backends: KrakenDBackends, endpoints: [ImportedEndpoint], trailer: [YAMLLine],
        checkedMembers: [String: YAMLTree]
    ) {
        self.checkedMembers = checkedMembers
        self.trailer = trailer
        self.name = name
        self.location = location
        self.findings = findings
        self.members = members
        self.limits = limits
        self.backends = backends
        self.endpoints = endpoints
    }

    /// The part of the document that contains a line, and that is left out if the line has an
    /// error.
    enum Part: Equatable {
        case member(String)
        case backend(String)
        case endpoint(Int)
    }

    // MARK: Text

    var text: String {
        var lines = YAMLLine.comment(
            "Imported from the KrakenD configuration\(name.map { " of \($0)" } ?? "").")
        lines += comments(findings)
        lines += members.flatMap { YAMLTree.lines(key: $0.0, $0.1) }
        lines += limitLines + backendLines + endpointLines + trailer
        return lines.map { $0.text + "\n" }.joined()
    }

    private func comments(_ findings: ImportFindings) -> [YAMLLine] {
        findings.sorted.flatMap { finding in
            YAMLLine.comment(
                "\(finding.severity.rawValue), line \(finding.location.line): \(finding.text)")
        }
    }

    private var backendLines: [YAMLLine] {
        block(
            "backends", backends.blocks(withFiles: true), usedBy: \.backends,
            always: backends.keyServers
        ) ?? [YAMLLine("backends: {}")]
    }

    private var limitLines: [YAMLLine] {
        block(
            "rate_limits", limits.limits.map { ($0.0, $0.1) }, usedBy: \.limits,
            always: Set(limits.namesOfService)) ?? []
    }

    /// The entries that the endpoints use. Those that only commented endpoints use are comments, too.
    ///
    /// - Parameter always: the names of entries that something else uses
    private func block(
        _ key: String, _ entries: [(name: String, tree: YAMLTree)],
        usedBy names: (ImportedEndpoint) -> Set<String>, always: Set<String>
    ) -> [YAMLLine]? {
        let used = endpoints.filter(\.isWritten).reduce(into: always) { $0.formUnion(names($1)) }
        let mentioned = endpoints.filter { $0.tree != nil }.reduce(into: used) {
            $0.formUnion(names($1))
        }
        let isEmpty = !entries.contains { used.contains($0.name) }
        let lines = entries.filter { mentioned.contains($0.name) }.flatMap { entry in
            let own = YAMLTree.lines(key: entry.name, entry.tree)
            guard !used.contains(entry.name) else { return own }
            return YAMLLine.comment("Only endpoints that are left out use it.")
                + own.map(\.asComment)
        }
        guard !lines.isEmpty else { return nil }
        let head = isEmpty && key == "rate_limits" ? "# \(key):" : key + (isEmpty ? ": {}" : ":")
        return [YAMLLine(head)] + lines.map { $0.indented() }
    }

    private var endpointLines: [YAMLLine] {
        let isEmpty = !endpoints.contains(where: \.isWritten)
        var lines = [YAMLLine(isEmpty ? "endpoints: []" : "endpoints:")]
        for endpoint in endpoints {
            let comments = comments(endpoint.reasons) + comments(endpoint.findings)
            lines += comments.map { $0.indented() }
            let own = endpoint.tree?.item ?? []
            lines += own.map { ($0.asCommentIf(endpoint.isProtected)).indented() }
        }
        return lines
    }

    // MARK: Check

    /// The lines to check, including those of protected endpoints, which must be valid when they
    /// are uncommented. Certificate files are left out, because they may not exist on this machine.
    var checkedLines: [(part: Part, line: YAMLLine)] {
        var lines: [(part: Part, line: YAMLLine)] = []
        for (key, tree) in members {
            let checked = checkedMembers[key] ?? tree
            lines += YAMLTree.lines(key: key, checked).map { (.member(key), $0) }
        }
        if !limits.limits.isEmpty {
            lines.append((.member("rate_limits"), YAMLLine("rate_limits:")))
            for (name, tree) in limits.limits {
                lines += YAMLTree.lines(key: name, tree).map {
                    (.member("rate_limits"), $0.indented())
                }
            }
        }
        lines.append((.member("backends"), YAMLLine("backends:")))
        for (name, tree) in backends.blocks(withFiles: false) {
            lines += YAMLTree.lines(key: name, tree).map { (.backend(name), $0.indented()) }
        }
        lines.append((.member("endpoints"), YAMLLine("endpoints:")))
        for (index, endpoint) in endpoints.enumerated() {
            lines += (endpoint.tree?.item ?? []).map { (.endpoint(index), $0.indented()) }
        }
        return lines
    }

    /// Leaves out a part that has an error; false if nothing can be left out.
    mutating func leaveOut(_ part: Part, _ reason: String, at location: SourceLocation?) -> Bool {
        switch part {
        case .endpoint(let index):
            endpoints[index].leaveOut(reason, at: location)
            return true
        case .backend(let name):
            let callers = endpoints.indices.filter { endpoints[$0].backends.contains(name) }
            for index in callers where endpoints[index].tree != nil {
                endpoints[index].leaveOut(reason, at: location)
            }
            return !callers.isEmpty
        case .member("rate_limits") where !limits.limits.isEmpty:
            limits.removeAll()
            findings.warning(
                at: location ?? self.location, "'rate_limits' is left out: \(reason)")
            return true
        case .member(let key):
            guard let index = members.firstIndex(where: { $0.0 == key && key != "version" }) else {
                return false
            }
            members.remove(at: index)
            findings.warning(at: location ?? self.location, "'\(key)' is left out: \(reason)")
            return true
        }
    }
}

extension YAMLLine {
    fileprivate func asCommentIf(_ isLeftOut: Bool) -> YAMLLine { isLeftOut ? asComment : self }
}
