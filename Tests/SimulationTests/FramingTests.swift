import Testing

@testable import Simulation

/// The frames of simulated peers (RFC 9113 4.1) and their header blocks (RFC 7541).
@Suite struct FramingTests {
    @Test func readsFramesCutAtAnyByte() {
        let frames = [
            PeerFrame.settings([(.initialWindow, 900)]),
            PeerFrame(.data, flags: PeerFrame.endStream, on: 3, [1, 2, 3]),
            PeerFrame.goAway(lastID: 5, .enhanceYourCalm), PeerFrame.windowUpdate(7, on: 0),
        ]
        let bytes = PeerFrame.preface + frames.flatMap(\.bytes)
        for size in 1...bytes.count {
            var reader = FrameReader(readsPreface: true)
            var read: [[UInt8]] = []
            var end = PeerFrame.preface.count
            for start in stride(from: 0, to: bytes.count, by: size) {
                reader.receive(Array(bytes[start..<min(start + size, bytes.count)])) {
                    event, range in
                    guard case .frame(let frame) = event else { return }
                    #expect(range == end..<end + frame.bytes.count)
                    end = range.upperBound
                    read.append(frame.bytes)
                }
            }
            #expect(read == frames.map(\.bytes))
        }
    }

    @Test(arguments: ["HTTP/1.1 503 Busy\r\n\r\n", "PRI * HTTP/2.1\r\n\r\nSM\r\n\r\n"])
    func refusesBytesOtherThanHTTP2(_ text: String) {
        for readsPreface in [true, false] {
            var reader = FrameReader(readsPreface: readsPreface)
            var isBroken = false
            reader.receive(Array(text.utf8)) { event, _ in
                if case .broken = event { isBroken = true }
            }
            #expect(isBroken && reader.isBroken)
        }
    }

    @Test(arguments: [0, 1, 126, 127, 128, 254, 255, 256, 16_000])
    func readsWrittenHeaderBlock(_ count: Int) {
        let fields: [PeerField] = [
            (":method", "GET"), ("x-long", String(repeating: "v", count: count)), ("a", ""),
        ]
        let reader = FieldReader()
        // The decoder keeps its state from one block to the next.
        for _ in 0..<2 {
            let read = reader.fields(of: FieldBlock.written(fields)) ?? []
            #expect(read.elementsEqual(fields, by: ==))
        }
        #expect(reader.fields(of: [0x80]) == nil)
    }

    /// RFC 7541 C.4.1: Huffman codes, the static and the dynamic table.
    @Test func readsHeaderBlockOfStandard() {
        let block: [UInt8] = [
            0x82, 0x86, 0x84, 0x41, 0x8C, 0xF1, 0xE3, 0xC2, 0xE5, 0xF2, 0x3A, 0x6B, 0xA0, 0xAB,
            0x90, 0xF4, 0xFF,
        ]
        let expected: [PeerField] = [
            (":method", "GET"), (":scheme", "http"), (":path", "/"),
            (":authority", "www.example.com"),
        ]
        let reader = FieldReader()
        #expect((reader.fields(of: block) ?? []).elementsEqual(expected, by: ==))
        // The last field is in the dynamic table now.
        #expect(reader.fields(of: [0xBE])?.first?.value == "www.example.com")
    }

    @Test func contentExcludesPaddingAndPriority() {
        let data = PeerFrame(.data, flags: PeerFrame.padded, on: 1, [2, 7, 8, 0, 0])
        #expect(data.content == [7, 8])
        let flags = PeerFrame.padded | PeerFrame.priority
        let head = PeerFrame(.headers, flags: flags, on: 1, [1, 0, 0, 0, 0, 16, 9, 0])
        #expect(head.content == [9])
        #expect(PeerFrame(.data, flags: PeerFrame.padded, on: 1, [3, 0, 0]).content == nil)
    }
}
