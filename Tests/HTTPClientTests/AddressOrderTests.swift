import Reactor
import Testing

@testable import HTTPClient

/// The order in which addresses are tried.
@Suite struct AddressOrderTests {
    private let one = IPAddress.v4(1)
    private let two = IPAddress.v4(2)
    private let three = IPAddress.v4(3)

    @Test func triesAddressesInTheOrderOfTheNameService() {
        var order = AddressOrder()
        #expect(order.sort([two, one]) == [two, one])
    }

    @Test func triesFailedAddressLast() {
        var order = AddressOrder()
        _ = order.sort([one, two, three])
        order.moveToEnd(one)
        #expect(order.sort([one, two, three]) == [two, three, one])
        #expect(order.sort([three, one, two]) == [two, three, one], "the same ones, permuted")
    }

    @Test func usesNewAddressesWhenTheNameChanges() {
        var order = AddressOrder()
        _ = order.sort([one, two])
        order.moveToEnd(one)
        #expect(order.sort([one, three]) == [one, three])
        #expect(order.sort([one]) == [one])
        order.moveToEnd(two)
        #expect(order.sort([one]) == [one], "an address that is gone changes nothing")
    }
}
