import Basics
import Reactor
import Testing

@testable import HTTPClient

@Suite struct AddressBookTests {
    private let start = Instant(nanoseconds: 0)
    private let addresses: [IPAddress] = [.v4(1), .v4(2), .v6(0, 3)]

    private var book: AddressBook {
        var book = AddressBook(timeToLive: .seconds(30))
        book.learn(addresses, at: start)
        return book
    }

    @Test func aNewBookKnowsNothing() {
        #expect(AddressBook(timeToLive: .seconds(30)).trusted(at: start) == nil)
    }

    @Test(arguments: [(0, true), (29, true), (30, false), (31, false)])
    func addressesAreTrustedForAWhile(seconds: Int, areTrusted: Bool) {
        #expect((book.trusted(at: start + .seconds(seconds)) != nil) == areTrusted)
    }

    @Test(
        arguments: [
            ([.v4(1)], [.v4(2), .v6(0, 3), .v4(1)]),
            ([.v4(2)], [.v4(1), .v6(0, 3), .v4(2)]),
            ([.v4(1), .v4(2)], [.v6(0, 3), .v4(1), .v4(2)]),
            ([.v4(9)], [.v4(1), .v4(2), .v6(0, 3)]),
        ] as [([IPAddress], [IPAddress])])
    func whatFailsGoesToTheEnd(failed: [IPAddress], order: [IPAddress]) {
        var book = book
        for address in failed { book.distrust(address) }
        #expect(book.trusted(at: start) == order)
    }

    @Test func whatIsForgottenIsAskedForAgain() {
        var book = book
        book.forget()
        #expect(book.trusted(at: start) == nil)
    }
}
