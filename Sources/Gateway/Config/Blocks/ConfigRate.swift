package import Basics

extension Config {
    /// A number of events per unit of time: `100/s`.
    package struct Rate: Sendable, Equatable {
        package let count: Int
        package let unit: Unit

        package enum Unit: String, Sendable, CaseIterable {
            case second = "s"
            case minute = "m"
            case hour = "h"
            case day = "d"

            package var seconds: Int {
                switch self {
                case .second: 1
                case .minute: 60
                case .hour: 3600
                case .day: 86_400
                }
            }
        }

        package init(_ count: Int, per unit: Unit) {
            self.count = count
            self.unit = unit
        }

        /// As a configuration spells it.
        package var spelled: String { "\(count)/\(unit.rawValue)" }

        /// Nil if the rate or the time to fill the bucket is beyond the limits of `TokenBucket`.
        package func bucket(burst: Int? = nil) -> TokenBucket? {
            TokenBucket(count: count, per: .seconds(unit.seconds), burst: burst ?? count)
        }
    }
}

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
