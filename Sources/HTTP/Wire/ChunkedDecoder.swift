/// Decodes chunks (RFC 9112 7.1), syntax byte by byte and data in runs. Extensions are checked,
/// counted and dropped; trailers are checked and counted.
struct ChunkedDecoder {
    private enum State {
        case size
        case lineFeedOfSize
        case `extension`(ChunkExtension)
        case data
        case carriageReturnOfData
        case lineFeedOfData
        case trailers(TrailerSection)
    }

    private var state = State.size
    /// The size read so far, then the remaining bytes of the chunk.
    private var remaining = 0
    /// Bytes of the size line.
    private var lineBytes = 0
    private var overhead = 0

    mutating func read(
        _ bytes: Span<UInt8>, from position: inout Int, _ limits: Limits
    ) throws(WireError) -> BodyReader.Event {
        while position < bytes.count {
            switch state {
            case .data: return readData(bytes.count, from: &position)
            case .trailers(let section):
                return try readTrailers(section, bytes, from: &position, limits)
            case .size, .extension, .lineFeedOfSize, .carriageReturnOfData, .lineFeedOfData:
                let byte = bytes[position]
                position &+= 1
                try read(byte, limits)
            }
        }
        return .needsMore
    }

    private mutating func readData(_ end: Int, from position: inout Int) -> BodyReader.Event {
        let start = position
        let length = min(remaining, end &- position)
        position &+= length
        remaining &-= length
        if remaining == 0 { state = .carriageReturnOfData }
        return .data(start..<position)
    }

    /// Reads field lines, or the empty line that ends them.
    private mutating func readTrailers(
        _ section: TrailerSection, _ bytes: Span<UInt8>, from position: inout Int, _ limits: Limits
    ) throws(WireError) -> BodyReader.Event {
        var section = section
        let start = position
        while position < bytes.count {
            // The empty line is not a field; the next call reads it.
            if position > start, section.isEnded(by: bytes[position]) { break }
            let byte = bytes[position]
            position &+= 1
            if try section.read(byte, limits) { return .end }
        }
        state = .trailers(section)
        return section.isInEmptyLine ? .needsMore : .trailers(start..<position)
    }

    private mutating func read(_ byte: UInt8, _ limits: Limits) throws(WireError) {
        switch state {
        case .size: try readSize(byte, limits)
        case .extension(let present): try readExtension(present, byte, limits)
        case .lineFeedOfSize:
            guard byte == ASCII.lineFeed else { throw .chunkSize }
            try endSizeLine(limits)
        case .carriageReturnOfData:
            guard byte == ASCII.carriageReturn else { throw .chunkEnd }
            state = .lineFeedOfData
        case .lineFeedOfData:
            guard byte == ASCII.lineFeed else { throw .chunkEnd }
            state = .size
        case .data, .trailers: break
        }
    }

    private mutating func readSize(_ byte: UInt8, _ limits: Limits) throws(WireError) {
        try countLineByte(limits)
        if let digit = ASCII.hexValue(byte) {
            guard remaining <= Int.max >> 4 else { throw .chunkSize }
            remaining = remaining << 4 | Int(digit)
            return
        }
        // At least one digit.
        guard lineBytes > 1 else { throw .chunkSize }
        switch byte {
        case ASCII.carriageReturn: state = .lineFeedOfSize
        case ASCII.semicolon: state = .extension(.beforeName)
        default: throw .chunkSize
        }
    }

    /// Ignored, but checked, so that it cannot hide a line end.
    private mutating func readExtension(
        _ present: ChunkExtension, _ byte: UInt8, _ limits: Limits
    ) throws(WireError) {
        try countLineByte(limits)
        if byte == ASCII.carriageReturn, present.mayEnd {
            state = .lineFeedOfSize
        } else if let next = present.next(byte) {
            state = .extension(next)
        } else {
            throw .chunkSize
        }
    }

    private mutating func countLineByte(_ limits: Limits) throws(WireError) {
        lineBytes &+= 1
        guard lineBytes <= limits.chunkLineBytes else { throw .chunkSize }
    }

    private mutating func endSizeLine(_ limits: Limits) throws(WireError) {
        overhead &+= max(0, lineBytes &- 16)
        guard overhead <= limits.chunkOverheadBytes else { throw .chunkOverhead }
        lineBytes = 0
        state = remaining == 0 ? .trailers(TrailerSection()) : .data
    }
}
