/// The limits of the wire protocol in one object that the readers of many connections share: a connection
/// holds a reference instead of all values, and a function that gets them gets no copy.
package final class WireLimits: Sendable {
    package let values: Limits

    package init(_ values: Limits) {
        self.values = values
    }
}
