/// Cuts the bytes of a connection into frames.
struct FrameReader {
    private var rest: [UInt8] = []
    /// Bytes of the preface that must still arrive.
    private var preface: ArraySlice<UInt8>
    private(set) var isBroken = false
    /// Position of the first byte of `rest` among all bytes of the connection.
    private var position = 0

    enum Event {
        case frame(PeerFrame)
        case broken(String)
    }

    /// - Parameter readsPreface: the bytes are those of a client
    init(readsPreface: Bool) {
        preface = readsPreface ? PeerFrame.preface[...] : []
    }

    /// Reads bytes; passes each event with the positions of its bytes.
    mutating func receive(_ bytes: [UInt8], _ handle: (Event, Range<Int>) -> Void) {
        guard !isBroken else { return }
        rest += bytes
        var used = 0
        while !isBroken, let (event, count) = next(rest[used...]) {
            let range = position + used..<position + used + count
            used += count
            if let event { handle(event, range) }
        }
        rest.removeFirst(used)
        position += used
    }

    private mutating func next(_ bytes: ArraySlice<UInt8>) -> (Event?, Int)? {
        guard preface.isEmpty else { return nextOfPreface(bytes) }
        guard bytes.count >= PeerFrame.headBytes else { return nil }
        let head = bytes.prefix(PeerFrame.headBytes).map(Int.init)
        let length = head[0] << 16 | head[1] << 8 | head[2]
        guard length <= PeerFrame.payloadMax else {
            isBroken = true
            return (.broken("a frame of \(length) bytes, or bytes that are not HTTP/2"), 0)
        }
        let end = PeerFrame.headBytes + length
        guard bytes.count >= end else { return nil }
        let stream = head[5] << 24 | head[6] << 16 | head[7] << 8 | head[8]
        let frame = PeerFrame(
            type: UInt8(head[3]), flags: UInt8(head[4]), on: stream & PeerFrame.highestID,
            Array(bytes.dropFirst(PeerFrame.headBytes).prefix(length)))
        return (.frame(frame), end)
    }

    private mutating func nextOfPreface(_ bytes: ArraySlice<UInt8>) -> (Event?, Int)? {
        guard !bytes.isEmpty else { return nil }
        let count = min(bytes.count, preface.count)
        guard bytes.prefix(count).elementsEqual(preface.prefix(count)) else {
            isBroken = true
            return (.broken("another preface than that of HTTP/2"), 0)
        }
        preface = preface.dropFirst(count)
        return (nil, count)
    }
}
