import YAMLReader

/// One endpoint of the file that is imported: written, written as a comment, or only reported.
struct ImportedEndpoint {
    /// `endpoint GET /a`
    let title: String
    let place: Place

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
        title: String, place: Place, tree: YAMLTree, backends: Set<String>, isProtected: Bool,
        reasons: ImportFindings, findings: ImportFindings
    ) {
        self.title = title
        self.place = place
        self.tree = tree
        self.backends = backends
        self.isProtected = isProtected
        self.reasons = reasons
        self.findings = findings
    }

    /// One that cannot be expressed.
    init(title: String, place: Place, refusal: String, at refused: Place?) {
        self.title = title
        self.place = place
        backends = []
        isProtected = false
        reasons = ImportFindings()
        findings = ImportFindings()
        refuse(refusal, at: refused)
    }

    var isWritten: Bool { tree != nil && !isProtected }

    /// Leaves it out; what else there was to say of it says nothing any more.
    mutating func refuse(_ words: String, at refused: Place?) {
        if tree != nil {
            reasons = ImportFindings()
            findings = ImportFindings()
        }
        tree = nil
        reasons.warning(at: refused ?? place, "\(title) is left out: \(words)")
    }
}
