package import YAMLReader

/// A value and the place in the configuration where it was written.
package struct Placed<Value: Sendable>: Sendable {
    package let value: Value
    package let place: Place

    package init(_ value: Value, at place: Place) {
        self.value = value
        self.place = place
    }
}

extension Placed: Equatable where Value: Equatable {}
