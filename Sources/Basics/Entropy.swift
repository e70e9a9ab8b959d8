/// A source of random numbers, determined by its seed (SplitMix64).
///
/// One per worker, seeded by the operating system in the daemon and by the run's seed in a
/// simulation. For ids, jitter and sampling; not for secrets.
package final class Entropy: RandomNumberGenerator {
    private var state: UInt64

    package init(seed: UInt64) {
        state = seed
    }

    package func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A number from 0 up to, and not with, `bound`. `bound` must be positive.
    package func below(_ bound: Int) -> Int {
        Int(next().multipliedFullWidth(by: UInt64(bound)).high)
    }

    /// True in one of `odds` cases on average. `odds` must be positive.
    package func chance(oneIn odds: Int) -> Bool {
        below(odds) == 0
    }

    /// True with this probability, 0 to 1.
    package func chance(_ probability: Double) -> Bool {
        Double(next() >> 11) * 0x1p-53 < probability
    }
}
