/// Who waits for whom among the calls of one endpoint, by their place in the file.
///
/// Pure: made of names and references, it knows neither configuration nor requests.
struct CallGraph: Sendable, Equatable {
    /// For every call, in file order, the calls whose answers it uses, ascending and once each.
    let waitsFor: [[Int]]
}
