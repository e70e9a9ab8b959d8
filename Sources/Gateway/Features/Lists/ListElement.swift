import Basics
import JSONText

/// An element of a list. A class, so that requests without one have no more than a reference.
final class ListElement {
    private let value: JSONSlice
    /// Nil for a single element.
    let batch: [JSONSlice]?
    let values: SharedValues

    init(_ value: JSONSlice, _ values: SharedValues) {
        self.value = value
        batch = nil
        self.values = values
    }

    init(batch: [JSONSlice], _ values: SharedValues) {
        value = .null
        self.batch = batch
        self.values = values
    }

    func json(of source: CompiledTemplate.Source) -> JSONSlice? {
        guard case .element(let path) = source else { return values.json(of: source) }
        guard let value = value.value(at: path), !value.isNull else { return nil }
        return value
    }
}

/// The values of a request that all elements of a list use: each is searched once.
final class SharedValues {
    private let request: CallValues
    private var texts: [(source: CompiledTemplate.Source, text: Bytes?)] = []
    private var values: [(source: CompiledTemplate.Source, json: JSONSlice?)] = []

    init(of request: CallValues) { self.request = request }

    var hasJSONBody: Bool { request.hasJSONBody }

    func headText(of source: CompiledTemplate.Source) -> Bytes? {
        if let known = texts.first(where: { $0.source == source }) { return known.text }
        let text = request.headText(of: source)
        texts.append((source, text))
        return text
    }

    func json(of source: CompiledTemplate.Source) -> JSONSlice? {
        if let known = values.first(where: { $0.source == source }) { return known.json }
        let json = request.json(of: source)
        values.append((source, json))
        return json
    }
}
