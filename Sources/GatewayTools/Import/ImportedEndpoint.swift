import YAMLReader

/// One endpoint of the file that is imported: written, written as a comment, or only reported.
struct ImportedEndpoint {
    /// `endpoint GET /a`
    let title: String
    let location: SourceLocation

    /// Nil if it cannot be expressed.
    private(set) var tree: YAMLTree?

    /// The names of the backends that it calls.
    let backends: Set<String>

    /// It would be open to everybody, so it is written as a comment.
    let isProtected: Bool

    /// Why it is left out.
    private(set) var reasons: ImportFindings

    private(set) var findings: ImportFindings

    init(
        title: String, location: SourceLocation, tree: YAMLTree, backends: Set<String>,
        isProtected: Bool,
        reasons: ImportFindings, findings: ImportFindings
    ) {
        self.title = title
        self.location = location
        self.tree = tree
        self.backends = backends
        self.isProtected = isProtected
        self.reasons = reasons
        self.findings = findings
    }

    /// One that cannot be expressed.
    init(title: String, location: SourceLocation, refusal: String, at refused: SourceLocation?) {
        self.title = title
        self.location = location
        backends = []
        isProtected = false
        reasons = ImportFindings()
        findings = ImportFindings()
        refuse(refusal, at: refused)
    }

    var isWritten: Bool { tree != nil && !isProtected }

    /// Leaves it out; what else there was to say of it says nothing any more.
    mutating func refuse(_ words: String, at refused: SourceLocation?) {
        if tree != nil {
            reasons = ImportFindings()
            findings = ImportFindings()
        }
        tree = nil
        reasons.warning(at: refused ?? location, "\(title) is left out: \(words)")
    }
}
