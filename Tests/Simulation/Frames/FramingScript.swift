import Rehearsal

/// How a simulated peer uses HTTP/2 on one connection. Times are in milliseconds.
struct FramingScript {
    /// SETTINGS_INITIAL_WINDOW_SIZE: what the gateway may send on a stream, in bytes.
    var streamWindow = PeerFrame.defaultWindow
    /// Milliseconds until the gateway gets credit for received bytes.
    var creditDelay = 0
    /// The windows of a client's streams are closed for so many milliseconds, before it opens them; nil for
    /// windows that are open.
    var opensWindowsAfter: Int?
    /// Meanwhile it opens each of them by so many bytes every 20 ms.
    var trickle = 0
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

    /// SETTINGS_INITIAL_WINDOW_SIZE at the beginning.
    var firstWindow: Int { opensWindowsAfter == nil ? streamWindow : 0 }

    init() {}

    /// - Parameter isSlow: it may close its windows
    init(_ random: RandomSource, isUnusual: Bool, isHost: Bool, isSlow: Bool = false) {
        tableBytes = random.pick([0, 0, FieldReader.defaultTableBytes, 256])
        if isHost { streamsMax = random.pick([nil, 100, 100, 1, 2, 5]) }
        if isSlow { closeWindows(random.derived("windows")) }
        guard isUnusual else { return }
        // With smaller ones, the credit for a large body would look like a flood.
        streamWindow = random.pick([PeerFrame.defaultWindow, 900, 900, 16_384, 1 << 20])
        creditDelay = random.pick([0, 0, 1, 20])
        pieceMax = random.pick([PeerFrame.payloadMax, 40, 1000])
        pads = random.chance(0.3)
        sendsOthers = random.chance(0.5)
        // Other settings would open closed windows.
        if opensWindowsAfter != nil { sendsOthers = false }
    }

    private mutating func closeWindows(_ random: RandomSource) {
        opensWindowsAfter = random.maybe(0.3, random.number(10...1500))
        trickle = random.pick([0, 0, 1, 7])
    }
}
