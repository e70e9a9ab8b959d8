/// What is sent piece by piece behind the head of a response.
package enum StreamKind: Sendable, CaseIterable {
    /// Its body.
    case response
    /// Another protocol, in both directions.
    case tunnel
}
