import Basics
import RESP

/// The script that charges rate limits in the store, and the commands that run it.
///
/// The state of a key is the theoretical arrival time of GCRA, as `TokenBucket` has it, in units of
/// 1/8 µs since 2024 by the clock of the store: a Lua number holds 2^53 of them, 35 years. The key
/// expires when its bucket is full, and no replica can report an earlier charge any more. All keys of
/// a request are charged or none.
///
/// An arrival time that is further ahead than the bucket allows comes from another rate, or of a
/// clock that has gone back. It is cut to one burst, and stored even if the request is refused:
/// otherwise each request would find it again.
enum LimitScript {
    /// KEYS: the buckets. ARGV: 1 to decide or 0 to add whatever the bucket allows; then for each key
    /// the charge, the tolerance (the time of a whole burst), the most that the arrival time may be
    /// ahead, how long ago the bucket was charged, and how late another replica may report a charge.
    ///
    /// Returns 1 if the keys were charged, else 0; then for each key how far its arrival time is
    /// ahead.
    static let text: StaticString = """
        local time = redis.call('TIME')
        local now = (time[1] - 1704067200) * 8000000 + time[2] * 8
        local reply = {1}
        local arrivals = {}
        local cut = {}
        for i = 1, #KEYS do
          local charge = tonumber(ARGV[5 * i - 3])
          local tolerance = tonumber(ARGV[5 * i - 2])
          local most = now + tonumber(ARGV[5 * i - 1])
          local start = now - tonumber(ARGV[5 * i])
          local arrival = tonumber(redis.call('GET', KEYS[i]) or '') or start
          cut[i] = arrival > most
          arrival = cut[i] and now + tolerance or math.max(start, arrival)
          arrivals[i] = math.max(now, math.min(arrival + charge, most))
          reply[i + 1] = arrival - now
          if ARGV[1] == '1' and arrival + charge - now > tolerance then reply[1] = 0 end
        end
        for i = 1, #KEYS do
          if reply[1] == 1 then
            reply[i + 1] = arrivals[i] - now
          else
            arrivals[i] = now + reply[i + 1]
          end
          if reply[1] == 1 or cut[i] then
            redis.call('SET', KEYS[i], string.format('%.0f', arrivals[i]),
              'PX', math.max(1, math.ceil((reply[i + 1] + tonumber(ARGV[5 * i + 1])) / 8000)))
          end
        end
        return reply
        """

    /// The SHA-1 of the text, which names it in `EVALSHA`. A test compares it with the text.
    static let digest: StaticString = "c0c937230bf6ed4a7dc0b97e8268ac21399048f2"

    /// Units of the script in a second.
    static let unitsPerSecond: Int64 = 8_000_000

    /// What a run of the script does.
    enum Mode {
        /// Charges all keys if all of their buckets allow it.
        case decide
        /// Charges or refunds whatever the buckets allow.
        case add
    }

    /// How a run names the script.
    enum Name {
        case digest
        /// With its text, for a store that has no script with the digest.
        case text
    }

    static func write(
        _ name: Name, _ mode: Mode, _ charges: [StoreCharge], to command: inout [UInt8]
    ) {
        command.append(commandOf: 4 + 6 * charges.count)
        switch name {
        case .digest:
            command.append(argument: "EVALSHA")
            command.append(argument: digest)
        case .text:
            command.append(argument: "EVAL")
            command.append(argument: text)
        }
        command.append(argument: Int64(charges.count))
        for charge in charges { command.append(argument: charge.key.span) }
        command.append(argument: mode == .decide ? 1 : 0)
        for charge in charges {
            command.append(argument: charge.charge)
            command.append(argument: charge.tolerance)
            command.append(argument: charge.aheadMax)
            command.append(argument: charge.age)
            command.append(argument: charge.lag)
        }
    }

    /// Adds a millisecond to a key of its own: it needs the same permissions and memory as a charge.
    static func trial(key: Bytes) -> RESPCommand {
        let charge = StoreCharge(
            key: key, charge: unitsPerSecond / 1000, tolerance: 0, aheadMax: unitsPerSecond)
        var command: [UInt8] = []
        write(.text, .add, [charge], to: &command)
        return RESPCommand(bytes: command)
    }
}
