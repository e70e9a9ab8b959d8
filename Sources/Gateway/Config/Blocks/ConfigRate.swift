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
