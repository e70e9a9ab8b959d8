extension Array {
    /// Adds each element to the element with the same label, or appends it.
    ///
    /// - Parameter add: adds the second element to the first one
    package mutating func merge<Label: Hashable>(
        _ others: [Element], by label: (Element) -> Label,
        _ add: (inout Element, Element) -> Void
    ) {
        var places = Dictionary(
            enumerated().map { (label($1), $0) }, uniquingKeysWith: { first, _ in first })
        for other in others {
            if let place = places[label(other)] {
                add(&self[place], other)
            } else {
                places[label(other)] = count
                append(other)
            }
        }
    }
}
