import Reactor
import Testing

@testable import HTTPClient

/// The order in which addresses are tried.
@Suite struct AddressBookTests {
    private let one = IPAddress.v4(1)
    private let two = IPAddress.v4(2)
    private let three = IPAddress.v4(3)

    @Test func triesAddressesInTheOrderOfTheNameService() {
        var book = AddressBook()
        #expect(book.sort([two, one]) == [two, one])
    }

    @Test func triesFailedAddressLast() {
        var book = AddressBook()
        _ = book.sort([one, two, three])
        book.moveToEnd(one)
        #expect(book.sort([one, two, three]) == [two, three, one])
        #expect(book.sort([three, one, two]) == [two, three, one], "the same ones, permuted")
    }

    @Test func followsANewAnswer() {
        var book = AddressBook()
        _ = book.sort([one, two])
        book.moveToEnd(one)
        #expect(book.sort([one, three]) == [one, three])
        #expect(book.sort([one]) == [one])
        book.moveToEnd(two)
        #expect(book.sort([one]) == [one], "an address that is gone changes nothing")
    }
}
