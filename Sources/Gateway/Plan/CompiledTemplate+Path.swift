import Basics

extension CompiledTemplate {
    /// The path as configured, with `{name}` for each value and without the query: for reports that
    /// must not contain what clients send.
    var pathTemplate: String {
        var path: [UInt8] = []
        for piece in shownPieces {
            switch piece {
            case .literal(let bytes): path.append(bytes)
            case .reference(_, .query): break
            case .reference(let reference, _): path.append("{\(reference.name)}")
            }
        }
        return String(Bytes(path.prefix { $0 != UInt8(ascii: "?") }.map { $0 }))
    }
}
