/// What is sent piece by piece after the head of a response.
package enum StreamKind: Sendable, CaseIterable {
    /// Its body.
    case response
    /// Another protocol, in both directions.
    case tunnel
}
