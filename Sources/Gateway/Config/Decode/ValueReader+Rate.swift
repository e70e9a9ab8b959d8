import Basics

extension ValueReader where Value == Config.Rate {
    /// `100/s`
    static var rate: ValueReader {
        let message = "must be a rate such as 100/s, 1000/m, 5/h or 10/d"
        return .scalar(.text(format: .rate), expected: message) { scalar throws(Refusal) in
            let parts = scalar.text.split(separator: "/", omittingEmptySubsequences: false)
            guard parts.count == 2, let unit = Config.Rate.Unit(rawValue: String(parts[1])),
                let first = parts[0].utf8.first, first != UInt8(ascii: "0"),
                parts[0].utf8.allSatisfy({ (0x30...0x39).contains($0) })
            else { throw Refusal(.init(fixed: message)) }
            guard let count = Int(parts[0]), count <= TokenBucket.countMax else {
                throw Refusal(.init(fixed: "must be at most \(TokenBucket.countMax) per unit"))
            }
            return Config.Rate(count, per: unit)
        }
    }
}
