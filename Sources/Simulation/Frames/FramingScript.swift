import Rehearsal

/// How a simulated peer uses HTTP/2 on one connection. Times are in milliseconds.
struct FramingScript {
    /// SETTINGS_INITIAL_WINDOW_SIZE: what the gateway may send on a stream, in bytes.
    var streamWindow = PeerFrame.defaultWindow
    /// Milliseconds until the gateway gets credit for received bytes.
    var creditDelay = 0
    /// The most bytes of a DATA frame, and of a part of a header block.
    var pieceMax = PeerFrame.payloadMax
    /// Adds padding to frames.
    var pads = false
    /// SETTINGS_HEADER_TABLE_SIZE.
    var tableBytes = FieldReader.defaultTableBytes
    /// SETTINGS_MAX_CONCURRENT_STREAMS of a host; nil if it states none.
    var streamsMax: Int?
    /// Sends PING, frames of extensions, and SETTINGS with other windows.
    var sendsOthers = false

    init() {}

    init(_ random: RandomSource, isUnusual: Bool, isHost: Bool) {
        tableBytes = random.pick([0, 0, FieldReader.defaultTableBytes, 256])
        if isHost { streamsMax = random.pick([nil, 100, 100, 1, 2, 5]) }
        guard isUnusual else { return }
        // With smaller ones, the credit for a large body would look like a flood.
        streamWindow = random.pick([PeerFrame.defaultWindow, 900, 900, 16_384, 1 << 20])
        creditDelay = random.pick([0, 0, 1, 20])
        pieceMax = random.pick([PeerFrame.payloadMax, 40, 1000])
        pads = random.chance(0.3)
        sendsOthers = random.chance(0.5)
    }
}
