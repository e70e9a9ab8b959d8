package import Basics
import RESP
package import Reactor
package import SimReactor

/// A store on a simulated network, with the faults of a real one. It runs every script as the one that
/// charges rate limits, by a model of its own: GCRA with whole numbers.
package final class SimulatedStore {
    package enum Fault: Sendable, Hashable {
        /// Every reply is late.
        case slow(Duration)
        /// Accepts connections and never replies, as a stopped process; later it replies to
        /// everything.
        case frozen
        /// Writes fail with this error; reads, and PING, work.
        case writesFail(String)
        /// Everything fails with this error.
        case allFails(String)
        /// New connections get an error and are closed.
        case tooManyClients
        /// Replies with something else than RESP2.
        case malformed
        /// Replies twice.
        case repeatsReplies
        /// Refuses every charge, and replies that its bucket is so far ahead.
        case refuses(ahead: Int64)
        /// Closes a connection instead of replying.
        case closes
    }

    /// A charge of one key.
    package struct Charge: Sendable {
        package let key: [UInt8]
        package let isGranted: Bool
        package let at: Instant
    }

    package private(set) var fault: Fault?
    package private(set) var charges: [Charge] = []
    /// Commands so far, PING and the first ones of a connection included.
    package private(set) var commands = 0
    package private(set) var isRunning = false

    private let loop: SimLoop
    private let address: SocketAddress
    private var listener: (any Listener)?
    private var connections: [StoreConnection] = []
    /// Arrival times, and when their keys expire.
    private var buckets: [[UInt8]: (arrival: Int64, end: Int64)] = [:]
    private var knowsScript = false

    package init(on loop: SimLoop, at address: SocketAddress) {
        self.loop = loop
        self.address = address
    }

    /// Listens.
    package func start() throws(IOFailure) {
        listener = try loop.listen(on: address, sharedPort: false) { [unowned self] in accept($0) }
        isRunning = true
    }

    /// Ends as a killed process does: connections are reset, keys and scripts are lost.
    package func kill() {
        isRunning = false
        listener?.close()
        listener = nil
        buckets = [:]
        knowsScript = false
        fault = nil
        let open = connections
        connections = []
        for connection in open { connection.peer.stream.close() }
    }

    /// Forgets scripts, as `SCRIPT FLUSH` does.
    package func forgetScripts() { knowsScript = false }

    /// Begins or ends a fault; what a frozen store received is processed then.
    package func set(_ fault: Fault?) {
        self.fault = fault
        for connection in connections { connection.processWaiting() }
    }

    /// Charges a key as another replica would.
    package func charge(_ key: [UInt8], count: Int64, interval: Duration) {
        let arrival = max(arrival(key) ?? now, now) + count * interval.inNanoseconds / 125
        buckets[key] = (arrival, max(arrival, buckets[key]?.end ?? 0))
    }

    /// Nil after the key has expired.
    private func arrival(_ key: [UInt8]) -> Int64? {
        buckets[key].flatMap { $0.end > now ? $0.arrival : nil }
    }

    // MARK: Connections

    private func accept(_ stream: any ByteStream) {
        let connection = StoreConnection(ScriptedPeer(stream), of: self)
        guard fault != .tooManyClients else {
            connection.peer.send("-ERR max number of clients reached\r\n")
            return connection.peer.stream.finishWriting()
        }
        connections.append(connection)
    }

    fileprivate func remove(_ connection: StoreConnection) {
        connection.peer.stream.close()
        connections.removeAll { $0 === connection }
    }

    fileprivate func process(_ command: [[UInt8]], _ connection: StoreConnection) {
        commands += 1
        let reply = reply(to: command)
        switch fault {
        case .slow(let delay): connection.send(reply, at: loop.now + delay, on: loop)
        case .malformed: connection.peer.send("HTTP/1.1 400 Bad Request\r\n\r\n")
        case .repeatsReplies: connection.peer.send(reply + reply)
        case .closes: remove(connection)
        default: connection.send(reply, at: loop.now, on: loop)
        }
    }

    // MARK: Commands

    private func reply(to command: [[UInt8]]) -> String {
        let name = String(decoding: command[0], as: UTF8.self)
        if case .allFails(let error) = fault { return "-\(error)\r\n" }
        switch name {
        case "PING": return "+PONG\r\n"
        case "AUTH", "SELECT": return "+OK\r\n"
        case "EVALSHA" where !knowsScript:
            return "-NOSCRIPT No matching script. Please use EVAL.\r\n"
        case "EVAL", "EVALSHA":
            knowsScript = true
            if case .writesFail(let error) = fault { return "-\(error)\r\n" }
            return runScript(command) ?? "-ERR value is not an integer or out of range\r\n"
        default: return "-ERR unknown command '\(name)'\r\n"
        }
    }

    /// Units of 1/8 µs.
    private var now: Int64 { loop.now.nanoseconds / 125 }

    private func runScript(_ command: [[UInt8]]) -> String? {
        let numbers = { (index: Int) in
            command.indices.contains(index)
                ? Int64(String(decoding: command[index], as: UTF8.self)) : nil
        }
        guard let count = numbers(2).map({ Int($0) }), (1...64).contains(count),
            command.count == 4 + 6 * count, let mode = numbers(3 + count)
        else { return nil }
        if case .refuses(let ahead) = fault {
            let replies = [Int64](repeating: ahead, count: count)
            return "*\(count + 1)\r\n:0\r\n" + replies.map { ":\($0)\r\n" }.joined()
        }
        var results: [(key: [UInt8], former: Int64, new: Int64, isCut: Bool, lag: Int64)] = []
        var isGranted = true
        for index in 0..<count {
            let first = 4 + count + 5 * index
            guard let charge = numbers(first), let tolerance = numbers(first + 1),
                let aheadMax = numbers(first + 2), let age = numbers(first + 3),
                let lag = numbers(first + 4)
            else { return nil }
            let key = command[3 + index]
            // A debt that the rate cannot have comes from another one.
            let isCut = arrival(key).map { $0 > now + aheadMax } ?? false
            let former = isCut ? now + tolerance : max(now - age, arrival(key) ?? (now - age))
            if mode == 1, former + charge - now > tolerance { isGranted = false }
            let new = max(now, min(former + charge, now + aheadMax))
            results.append((key, former, new, isCut, lag))
        }
        for result in results {
            if isGranted {
                buckets[result.key] = (result.new, result.new + result.lag)
            } else if result.isCut {
                buckets[result.key] = (result.former, result.former + result.lag)
            }
            // The trial of a new connection is no request.
            guard !result.key.suffix(5).elementsEqual("probe".utf8) else { continue }
            charges.append(Charge(key: result.key, isGranted: isGranted, at: loop.now))
        }
        let ahead = results.map { (isGranted ? $0.new : $0.former) - now }
        return "*\(count + 1)\r\n:\(isGranted ? 1 : 0)\r\n"
            + ahead.map { ":\($0)\r\n" }.joined()
    }
}

/// One connection to a simulated store.
private final class StoreConnection {
    let peer: ScriptedPeer
    private unowned let store: SimulatedStore
    private var reader = RESPReader(limits: RESPLimits())
    private var waiting: [[[UInt8]]] = []
    /// Replies are sent in order: none before this time.
    private var earliest = Instant(nanoseconds: 0)

    init(_ peer: ScriptedPeer, of store: SimulatedStore) {
        self.peer = peer
        self.store = store
        peer.onReceived = { [unowned self] _ in receive() }
        peer.onEnded = { [unowned self] _ in self.store.remove(self) }
        peer.onFailed = { [unowned self] _ in self.store.remove(self) }
    }

    private func receive() {
        var position = 0
        let bytes = peer.received
        peer.clearReceived()
        while let value = try? reader.read(bytes.span, from: &position) {
            guard case .array(let arguments) = value else { continue }
            waiting.append(
                arguments.map { if case .bulk(let text) = $0 { text.array } else { [] } })
        }
        processWaiting()
    }

    func send(_ reply: String, at due: Instant, on loop: SimLoop) {
        guard max(due, earliest) > loop.now else { return peer.send(reply) }
        earliest = max(due, earliest)
        loop.timer(after: earliest - loop.now) { [peer] in peer.send(reply) }
    }

    func processWaiting() {
        while store.fault != .frozen, !waiting.isEmpty {
            store.process(waiting.removeFirst(), self)
        }
    }
}
