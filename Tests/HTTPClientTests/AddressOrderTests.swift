import Basics
import Reactor
import Testing

@testable import HTTPClient

/// The order in which addresses are tried.
@Suite struct AddressOrderTests {
    private let one = IPAddress.v4(1)
    private let two = IPAddress.v4(2)
    private let three = IPAddress.v4(3)
    private let six = IPAddress.v6(0, 6)
    private let now = Instant(nanoseconds: 1)

    private func sort(
        _ order: inout AddressOrder, _ addresses: [IPAddress], after seconds: Int = 0,
        start: Int = 0
    ) -> [IPAddress] {
        order.sort(addresses, at: now + .seconds(seconds)) { min(start, $0 - 1) }
    }

    @Test func newConnectionsGoRoundTheAddresses() {
        var order = AddressOrder()
        let firsts = (0..<6).map { _ in sort(&order, [one, two, three])[0] }
        #expect(firsts == [one, two, three, one, two, three])
        #expect(sort(&order, [one, two, three]) == [one, two, three])
        #expect(sort(&order, [one, two, three]) == [two, three, one])
    }

    @Test func theFirstConnectionBeginsWhereTheDrawSays() {
        var order = AddressOrder()
        #expect(sort(&order, [one, two, three], start: 2) == [three, one, two])
        #expect(sort(&order, [one, two, three], start: 2)[0] == one)
    }

    @Test func oneAddressNeedsNoDraw() {
        var order = AddressOrder()
        let sorted = order.sort([one], at: now) { _ in
            Issue.record("drawn")
            return 0
        }
        #expect(sorted == [one])
    }

    /// The system knows best which family works.
    @Test func theOtherFamilyComesAfterThePreferredOne() {
        var order = AddressOrder()
        #expect(sort(&order, [six, one, two]) == [six, one, two])
        #expect(sort(&order, [six, one, two]) == [six, one, two])
        var other = AddressOrder()
        #expect(sort(&other, [one, six, two]) == [one, two, six])
        #expect(sort(&other, [one, six, two]) == [two, one, six])
    }

    @Test func aPermutationChangesNothing() {
        var order = AddressOrder()
        let firsts = [[one, two], [two, one], [one, two], [two, one]].map { sort(&order, $0)[0] }
        #expect(firsts == [one, two, one, two])
    }

    @Test func triesFailedAddressLastForAWhile() {
        var order = AddressOrder()
        _ = sort(&order, [one, two, three])
        order.recordFailure(one, at: now)
        for second in 0..<10 {
            for _ in 0..<3 { #expect(sort(&order, [one, two, three], after: second).last == one) }
        }
        let firsts = (0..<3).map { _ in sort(&order, [one, two, three], after: 10)[0] }
        #expect(Set(firsts) == [one, two, three])
    }

    @Test func whereAllHaveFailedTheFirstFailureComesFirst() {
        var order = AddressOrder()
        _ = sort(&order, [one, two])
        order.recordFailure(two, at: now)
        order.recordFailure(one, at: now + .seconds(1))
        #expect(sort(&order, [one, two], after: 2) == [two, one])
    }

    @Test func usesNewAddressesWhenTheNameChanges() {
        var order = AddressOrder()
        _ = sort(&order, [one, two])
        order.recordFailure(one, at: now)
        #expect(sort(&order, [one, three]) == [three, one])
        #expect(sort(&order, [one]) == [one])
        order.recordFailure(two, at: now)
        #expect(sort(&order, [one]) == [one], "an address that is gone changes nothing")
    }
}
