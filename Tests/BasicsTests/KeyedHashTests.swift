import Testing

@testable import Basics

@Suite struct KeyedHashTests {
    private static let key = KeyedHash.Key(0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908)

    /// Messages of the bytes 0, 1, 2, ... with the key 0 to 15, of the lengths 0, 8, 16, 24 and 64.
    @Test(
        arguments: [
            (0, 0xabac_0158_050f_c4dc), (1, 0x3690_9511_8d29_9a8e), (2, 0xcc4f_dd1a_7d90_8b66),
            (3, 0xf464_aeb2_6734_9c8c), (8, 0xf179_97ec_4b4a_6065),
        ] as [(Int, UInt64)])
    func isSipHash13(_ words: Int, _ expected: UInt64) {
        var hash = KeyedHash(Self.key)
        for word in 0..<UInt64(words) {
            hash.combine((0..<8).reduce(0) { $0 | (word * 8 + $1) << ($1 * 8) })
        }
        #expect(hash.value == expected)
    }

    private func hash(_ texts: [String], _ key: KeyedHash.Key = key) -> UInt64 {
        var hash = KeyedHash(key)
        for text in texts { hash.combine(Bytes(text).span) }
        return hash.value
    }

    @Test func differsForEveryListOfTexts() {
        let lists = [
            [], [""], ["", ""], ["a"], ["a", ""], ["", "a"], ["ab"], ["a", "b"], ["b", "a"],
            ["12345678"], ["12345678", ""], ["1234567", "8"], ["123456789"], ["a\0"],
        ]
        #expect(Set(lists.map { hash($0) }).count == lists.count)
        #expect(hash(["12345678"]) == hash(["12345678"]))
    }

    @Test func dependsOnTheKey() {
        #expect(hash(["a"]) != hash(["a"], KeyedHash.Key(1, 0)))
        #expect(hash(["a"], KeyedHash.Key(0, 1)) != hash(["a"], KeyedHash.Key(1, 0)))
    }
}
