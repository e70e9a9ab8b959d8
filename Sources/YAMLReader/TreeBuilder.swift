/// Builds the tree of one document from events, with a stack instead of recursion.
struct TreeBuilder {
    private(set) var root: DocumentNode?
    private var frames: [Frame] = []
    private var hasDocument = false
    private let depthMax: Int

    init(depthMax: Int) {
        self.depthMax = depthMax
    }

    mutating func add(_ event: YAMLEvent) throws(DocumentProblem) {
        switch event {
        case .documentStart(let location):
            guard !hasDocument else {
                throw DocumentProblem(
                    location: location, text: "a second document starts here; one file holds one")
            }
            hasDocument = true
        case .mappingStart(let location):
            try open(Frame(location: location, isMapping: true))
        case .sequenceStart(let location):
            try open(Frame(location: location, isMapping: false))
        case .scalar(let location, let scalar):
            try addScalar(location, scalar)
        case .end:
            if let node = frames.popLast()?.node { addNode(node) }
        }
    }

    private mutating func open(_ frame: Frame) throws(DocumentProblem) {
        if let parent = frames.last, parent.isMapping, parent.key == nil {
            throw DocumentProblem(
                location: frame.location,
                text:
                    "a key must be a text; quote \"{...}\" and \"[...]\" where they belong to a text"
            )
        }
        guard frames.count < depthMax else {
            throw DocumentProblem(
                location: frame.location, text: "nested more than \(depthMax) levels deep")
        }
        frames.append(frame)
    }

    /// Adds a scalar as the next key of a mapping, or as a value.
    private mutating func addScalar(
        _ location: SourceLocation, _ scalar: DocumentNode.Scalar
    ) throws(DocumentProblem) {
        if let last = frames.indices.last, frames[last].isMapping, frames[last].key == nil {
            guard !scalar.text.isEmpty else {
                throw DocumentProblem(location: location, text: "a key is missing before the ':'")
            }
            guard scalar.text != "<<" || !scalar.isPlain else {
                throw DocumentProblem(
                    location: location,
                    text: "merge keys (<<) are not supported; write the keys here")
            }
            frames[last].key = (scalar.text, location)
        } else {
            addNode(DocumentNode(location: location, content: .scalar(scalar)))
        }
    }

    private mutating func addNode(_ node: DocumentNode) {
        guard let last = frames.indices.last else {
            root = node
            return
        }
        frames[last].add(node)
    }
}

/// A mapping or a sequence that has not ended yet.
private struct Frame {
    let location: SourceLocation
    let isMapping: Bool
    /// The key whose value follows.
    var key: (text: String, location: SourceLocation)?
    private var members: [DocumentNode.Member] = []
    private var items: [DocumentNode] = []

    init(location: SourceLocation, isMapping: Bool) {
        self.location = location
        self.isMapping = isMapping
    }

    mutating func add(_ node: DocumentNode) {
        if let (text, keyLocation) = key {
            members.append(.init(key: text, keyLocation: keyLocation, node: node))
            key = nil
        } else {
            items.append(node)
        }
    }

    var node: DocumentNode {
        DocumentNode(location: location, content: isMapping ? .mapping(members) : .sequence(items))
    }
}
