/// The list of one call, whose requests have the call's attempts. A part of a `RequestRecord`.
package struct ListRecord: Sendable, Equatable {
    /// The index of the call.
    package let call: Int
    /// How many elements it has, without those that were left out.
    package let elements: Int
    /// How many of them share the request of another element.
    package let shared: Int
    /// How many were left out because of `max`.
    package let truncated: Int
    /// How many elements have failed; known at the end of the call.
    package internal(set) var failed = 0

    package init(call: Int, elements: Int, shared: Int, truncated: Int) {
        self.call = call
        self.elements = elements
        self.shared = shared
        self.truncated = truncated
    }
}
