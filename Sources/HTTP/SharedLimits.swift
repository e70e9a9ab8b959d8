/// Limits in one object that the readers of many connections share: a connection then holds a
/// reference, and not 184 bytes of its own, and a function that gets them gets no copy.
package final class SharedLimits: Sendable {
    package let values: Limits

    package init(_ values: Limits) {
        self.values = values
    }
}
