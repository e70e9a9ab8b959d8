import Basics
import HTTP
import TLS
import Testing

@testable import Gateway

/// The memory of verified tokens.
@Suite struct VerifiedTokensTests {
    private let hasher = SHA256Hasher()

    private func hash(_ number: Int) throws -> SHA256Words {
        try #require(hasher.words(of: Bytes("token \(number)")))
    }

    private func entry(_ number: Int) -> VerifiedTokens.Entry {
        VerifiedTokens.Entry(
            caller: Caller(authenticator: Bytes("a"), name: Bytes("\(number)")), expires: 1)
    }

    @Test func remembersTokens() throws {
        let tokens = VerifiedTokens(sizeMax: 10)
        #expect(tokens[try hash(1)] == nil)
        tokens.insert(entry(1), try hash(1))
        #expect(tokens[try hash(1)]?.caller.name == Bytes("1"))
        tokens.remove(try hash(1))
        #expect(tokens[try hash(1)] == nil)
    }

    @Test(arguments: [1, 2, 3, 10, 1000])
    func neverRemembersMoreThanItsSize(_ size: Int) throws {
        let tokens = VerifiedTokens(sizeMax: size)
        for number in 0..<(3 * size) {
            tokens.insert(entry(number), try hash(number))
            #expect(tokens.count <= size)
            #expect(tokens[try hash(number)] != nil)
        }
    }

    @Test func remembersNothingWithoutASize() throws {
        let tokens = VerifiedTokens(sizeMax: 0)
        tokens.insert(entry(1), try hash(1))
        #expect(tokens.count == 0)
    }

    @Test func forgetsTokensThatAreNotUsed() throws {
        let tokens = VerifiedTokens(sizeMax: 10)
        for number in 0..<40 {
            tokens.insert(entry(number), try hash(number))
            // Used all the time.
            #expect(tokens[try hash(0)] != nil)
        }
        #expect(tokens[try hash(20)] == nil)
    }
}
