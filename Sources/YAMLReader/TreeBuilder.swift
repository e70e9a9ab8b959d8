/// Builds the tree of one document out of events, with a stack instead of recursion.
struct TreeBuilder {
    private(set) var root: DocumentNode?
    private var open: [Frame] = []
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
            try begin(Frame(location: location, isMapping: true))
        case .sequenceStart(let location):
            try begin(Frame(location: location, isMapping: false))
        case .scalar(let location, let scalar):
            try take(location, scalar)
        case .end:
            if let node = open.popLast()?.node { put(node) }
        }
    }

    private mutating func begin(_ frame: Frame) throws(DocumentProblem) {
        if let parent = open.last, parent.isMapping, parent.key == nil {
            throw DocumentProblem(
                location: frame.location,
                text:
                    "a key must be a text; quote \"{...}\" and \"[...]\" where they belong to a text"
            )
        }
        guard open.count < depthMax else {
            throw DocumentProblem(
                location: frame.location, text: "nested more than \(depthMax) levels deep")
        }
        open.append(frame)
    }

    /// A scalar is the next key of a mapping, or a value.
    private mutating func take(
        _ location: SourceLocation, _ scalar: DocumentNode.Scalar
    ) throws(DocumentProblem) {
        if let last = open.indices.last, open[last].isMapping, open[last].key == nil {
            guard !scalar.text.isEmpty else {
                throw DocumentProblem(location: location, text: "a key is missing before the ':'")
            }
            open[last].key = (scalar.text, location)
        } else {
            put(DocumentNode(location: location, content: .scalar(scalar)))
        }
    }

    private mutating func put(_ node: DocumentNode) {
        guard let last = open.indices.last else {
            root = node
            return
        }
        open[last].add(node)
    }
}

/// A mapping or a sequence whose end has not come yet.
private struct Frame {
    let location: SourceLocation
    let isMapping: Bool
    /// The key that waits for its value.
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
