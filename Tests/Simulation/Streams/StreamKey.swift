/// Identifies an attempt of a streamed request.
struct StreamKey: Equatable {
    /// Number of the client's request.
    let number: Int
    let generation: Int
    let endpoint: Int
    /// Counts the attempts of the request, from 0.
    let ordinal: Int

    var mark: String { "r\(number)" }
}
