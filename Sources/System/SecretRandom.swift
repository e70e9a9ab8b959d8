/// Random numbers for secrets: the operating system's, and never weaker ones.
package struct SecretRandom: RandomNumberGenerator {
    private var system = SystemRandomNumberGenerator()

    package init() {}

    package mutating func next() -> UInt64 { system.next() }
}
