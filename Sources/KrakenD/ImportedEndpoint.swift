import YAMLReader

/// One endpoint of the imported file: written, written as a comment, or only reported.
struct ImportedEndpoint {
    /// `endpoint GET /a`
    let title: String
    let location: SourceLocation

    /// Nil if it cannot be expressed.
    private(set) var tree: YAMLTree?

    /// The names of the backends that it calls.
    let backends: Set<String>

    /// The names of its own rate limits and of the service's.
    let limits: Set<String>

    /// Whether KrakenD protects it; it is then written as a comment, because it would be accessible
    /// without authentication.
    let isProtected: Bool

    /// Why it is left out.
    private(set) var reasons: ImportFindings

    private(set) var findings: ImportFindings

    init(
        title: String, location: SourceLocation, tree: YAMLTree, backends: Set<String>,
        limits: [String], isProtected: Bool, reasons: ImportFindings, findings: ImportFindings
    ) {
        self.title = title
        self.location = location
        self.tree = tree
        self.backends = backends
        self.limits = Set(limits)
        self.isProtected = isProtected
        self.reasons = reasons
        self.findings = findings
    }

    /// One that cannot be expressed.
    init(title: String, location: SourceLocation, refusal: String, at refused: SourceLocation?) {
        self.title = title
        self.location = location
        backends = []
        limits = []
        isProtected = false
        reasons = ImportFindings()
        findings = ImportFindings()
        leaveOut(refusal, at: refused)
    }

    var isWritten: Bool { tree != nil && !isProtected }

    /// Leaves the endpoint out; its other findings no longer apply.
    mutating func leaveOut(_ reason: String, at refused: SourceLocation?) {
        if tree != nil {
            reasons = ImportFindings()
            findings = ImportFindings()
        }
        tree = nil
        reasons.warning(at: refused ?? location, "\(title) is left out: \(reason)")
    }
}
