import CYAML

/// The events of libyaml as values. Owns the parser and its input; used by one reader, once.
///
/// The parser is on the heap because libyaml stores a pointer to it inside it.
final class YAMLEvents {
    private let source: SourceText
    private let parser: UnsafeMutablePointer<yaml_parser_t>
    private let input: UnsafeMutableBufferPointer<UInt8>

    init(_ source: SourceText) throws(DocumentProblem) {
        self.source = source
        input = .allocate(capacity: source.bytes.count)
        _ = input.initialize(from: source.bytes)
        parser = .allocate(capacity: 1)
        parser.initialize(to: yaml_parser_t())
        guard yaml_parser_initialize(parser) == 1 else {
            throw DocumentProblem(
                location: SourceLocation(source.file),
                text: "there is not enough memory to read it")
        }
        yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
        yaml_parser_set_input_string(parser, input.baseAddress, input.count)
    }

    deinit {
        yaml_parser_delete(parser)
        parser.deallocate()
        input.deallocate()
    }

    /// The next event that the tree needs; nil at the end of the file.
    func next() throws(DocumentProblem) -> YAMLEvent? {
        while true {
            var event = yaml_event_t()
            guard yaml_parser_parse(parser, &event) == 1 else {
                throw YAMLProblemText(parser.pointee, in: source).problem
            }
            defer { yaml_event_delete(&event) }
            if event.type == YAML_STREAM_END_EVENT { return nil }
            if let treeEvent = try treeEvent(for: event) { return treeEvent }
        }
    }

    private func treeEvent(for event: yaml_event_t) throws(DocumentProblem) -> YAMLEvent? {
        let location = source.location(of: event.start_mark)
        switch event.type {
        case YAML_DOCUMENT_START_EVENT:
            return .documentStart(location)
        case YAML_ALIAS_EVENT:
            throw DocumentProblem(
                location: location,
                text: "aliases (*name) are not supported; quote a text that starts with '*'")
        case YAML_MAPPING_START_EVENT:
            let start = event.data.mapping_start
            try refuseAnchorOrTag(anchor: start.anchor, tag: start.tag, at: location)
            return .mappingStart(location)
        case YAML_SEQUENCE_START_EVENT:
            let start = event.data.sequence_start
            try refuseAnchorOrTag(anchor: start.anchor, tag: start.tag, at: location)
            return .sequenceStart(location)
        case YAML_MAPPING_END_EVENT, YAML_SEQUENCE_END_EVENT:
            return .end
        case YAML_SCALAR_EVENT:
            try refuseAnchorOrTag(
                anchor: event.data.scalar.anchor, tag: event.data.scalar.tag, at: location)
            return .scalar(location, scalar(of: event))
        default:  // the stream's start, a document's end
            return nil
        }
    }

    private func scalar(of event: yaml_event_t) -> DocumentNode.Scalar {
        let data = event.data.scalar
        let bytes = UnsafeBufferPointer(start: data.value, count: data.length)
        let text = String(decoding: bytes, as: UTF8.self)
        let isPlain = data.style == YAML_PLAIN_SCALAR_STYLE
        let quotes = isPlain ? 0 : 1
        // Only escapes and folded lines change the length.
        let (start, end) = (event.start_mark, event.end_mark)
        let isVerbatim =
            start.line == end.line
            && Int(end.column - start.column) == text.unicodeScalars.count + 2 * quotes
        return DocumentNode.Scalar(
            text: text, isPlain: isPlain,
            textStart: isVerbatim ? source.location(of: start).advanced(by: quotes) : nil)
    }

    private func refuseAnchorOrTag(
        anchor: UnsafeMutablePointer<yaml_char_t>?, tag: UnsafeMutablePointer<yaml_char_t>?,
        at location: SourceLocation
    ) throws(DocumentProblem) {
        if anchor != nil {
            throw DocumentProblem(
                location: location,
                text: "anchors (&name) are not supported; quote a text that starts with '&'")
        }
        if tag != nil {
            throw DocumentProblem(
                location: location,
                text: "tags (!name) are not supported; quote a text that starts with '!'")
        }
    }
}

/// The events of libyaml that a tree needs.
enum YAMLEvent {
    case documentStart(SourceLocation)
    case mappingStart(SourceLocation)
    case sequenceStart(SourceLocation)
    case scalar(SourceLocation, DocumentNode.Scalar)
    /// The end of the innermost mapping or sequence.
    case end
}
