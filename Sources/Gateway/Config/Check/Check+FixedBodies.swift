import Basics
import JSONText

/// Bodies of calls that are a text without references, and probably not meant as one. They are sent as
/// they are: fixed text in any format may have braces, so none of this is an error.
extension ConfigCheck {
    mutating func checkFixedBody(of call: Config.Call, in endpoint: Config.Endpoint) {
        guard let body = call.body, let text = body.fixedText,
            let note = FixedBody(text, in: endpoint).note
        else { return }
        problems.warning(at: body.location, "'body' of call '\(call.name.value)' \(note)")
    }
}

/// What is probably wrong with a fixed text.
private struct FixedBody {
    private let text: String
    private let calls: [String]
    private let params: [String]

    init(_ text: String, in endpoint: Config.Endpoint) {
        self.text = text
        calls = endpoint.calls.map(\.name.value)
        params = endpoint.parameterNames
    }

    /// Nil if it is probably meant.
    var note: String? {
        if isReference(text) {
            return "is a text that is sent as it is; write \"{\(text)}\" for the value"
        }
        if text == "{}" {
            return "is the text {}, which is sent as it is; write {} without quotes for an empty"
                + " object"
        }
        if isJSON { return nil }
        if let name = spacedReference {
            return
                "has a reference with spaces, which is sent as it is; write \"{\(name)}\" for the"
                + " value"
        }
        return hasUnmatchedBrace ? "has an unmatched brace; the text is sent as it is" : nil
    }

    private func isReference(_ text: String) -> Bool {
        text.isReference(toOneOf: calls, params: params)
    }

    private var isJSON: Bool { (try? JSONSlice(validating: Bytes(text))) != nil }

    /// The first reference between braces, without the spaces around it.
    private var spacedReference: String? {
        for piece in text.split(separator: "{", omittingEmptySubsequences: false).dropFirst() {
            guard let end = piece.firstIndex(of: "}") else { continue }
            let words = piece[..<end].split(whereSeparator: \.isWhitespace)
            if words.count == 1, isReference(String(words[0])) { return String(words[0]) }
        }
        return nil
    }

    private var hasUnmatchedBrace: Bool {
        var depth = 0
        for sign in text {
            if sign == "{" { depth += 1 }
            if sign == "}" { depth -= 1 }
            if depth < 0 { return true }
        }
        return depth > 0
    }
}
