/// The number of leading elements of a list that are done. Elements never become undone, so each is
/// looked at until it is done, and not again.
struct DonePrefix {
    private(set) var count = 0

    /// Counts the elements that have become done; whether there are any.
    mutating func advance(of total: Int, _ isDone: (Int) -> Bool) -> Bool {
        let before = count
        while count < total, isDone(count) { count += 1 }
        return count > before
    }
}
