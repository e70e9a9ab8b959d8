import Reactor
import SimReactor

/// A run whose peer sends frames of HTTP/2 as the steps of an input state them.
///
/// A step is a byte that names it and a byte with a number.
protocol HTTP2Steps: AnyObject {
    var input: [UInt8] { get }
    var network: SimNetwork { get }
    var peers: SimLoop { get }
    /// The peer's end of the connection that gets the frames.
    var peer: ScriptedPeer? { get }
}

extension HTTP2Steps {
    /// Performs a step that the runs of both roles have; returns the position of the next one, nil
    /// if it is none of them.
    func performStep(_ step: UInt8, _ number: UInt8, from start: Int) -> Int? {
        let stream = [0, 0, 0, number & 0x7F]
        switch step {
        // Bytes as they are.
        case UInt8(ascii: "c"):
            let end = min(start + Int(number), input.count)
            send(Array(input[start..<end]))
            return end
        // A frame: length, type, flags and stream, then the payload.
        case UInt8(ascii: "f"):
            guard start + 2 < input.count else { return input.count }
            let end = min(start + 3 + Int(number), input.count)
            send(
                frame(
                    input[start], input[start + 1], [0, 0, 0, input[start + 2]],
                    Array(input[(start + 3)..<end])))
            return end
        // The acknowledgement of SETTINGS.
        case UInt8(ascii: "a"): send(frame(4, 1, [0, 0, 0, 0], []))
        // A piece of a body, its end.
        case UInt8(ascii: "d"):
            send(frame(0, 0, stream, [UInt8](repeating: 0x78, count: 1 + Int(number) * 60)))
        case UInt8(ascii: "e"): send(frame(0, 1, stream, []))
        case UInt8(ascii: "k"): act { $0.stream.finishWriting() }
        case UInt8(ascii: "t"): pass(Int(number))
        case UInt8(ascii: "T"): pass(Int(number) * 300)
        default: return nil
        }
        return start
    }

    func frame(_ type: UInt8, _ flags: UInt8, _ stream: [UInt8], _ payload: [UInt8]) -> [UInt8] {
        [0, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF), type, flags] + stream + payload
    }

    func send(_ bytes: [UInt8]) {
        act { $0.stream.write(bytes.span) }
    }

    /// Runs an action of the peer on its loop.
    func act(_ action: @escaping (ScriptedPeer) -> Void) {
        peers.timer(after: .zero) { [weak self] in
            if let peer = self?.peer { action(peer) }
        }
    }

    func pass(_ milliseconds: Int) {
        network.advance(by: .milliseconds(milliseconds))
    }
}
