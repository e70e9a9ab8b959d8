import Basics
import Testing

@testable import JSONText

/// The error of a text, or nil if it is valid. Records an issue if a scan in blocks, with any of the
/// instruction sets, has another result.
func scanError(in text: [UInt8], depthMax: Int = JSONSlice.depthMax) -> JSONError? {
    let result: Result<Range<Int>, JSONError>
    do throws(JSONError) {
        result = .success(try JSONScanner(text.span, depthMax: depthMax).wholeText())
    } catch {
        result = .failure(error)
    }
    let range = try? result.get()
    if (try? JSONSlice.range(in: text.span, depthMax: depthMax)) != range {
        Issue.record("JSONSlice differs: \(String(decoding: text, as: UTF8.self))")
    }
    for (index, classifier) in BlockClassifier.all.enumerated() {
        let inBlocks = BlockScanner(text.span, depthMax: depthMax, classifier).wholeText()
        let isSupported = range != nil && isSupportedInBlocks(text)
        if inBlocks != range && (inBlocks != nil || isSupported) {
            Issue.record("classifier \(index) differs: \(String(decoding: text, as: UTF8.self))")
        }
    }
    if case .failure(let error) = result { return error }
    return nil
}

/// Whether `BlockScanner` must accept this valid text: a container that is not too deep.
private func isSupportedInBlocks(_ text: [UInt8]) -> Bool {
    let open: Set<UInt8> = [.openBrace, .openBracket]
    let close: Set<UInt8> = [.closeBrace, .closeBracket]
    guard let first = text.first(where: { $0 > .space }), open.contains(first) else { return false }
    var depth = 0
    var deepest = 0
    var isInString = false
    var isEscaped = false
    for byte in text {
        if isInString {
            if byte == .quote && !isEscaped { isInString = false }
            isEscaped = byte == .backslash && !isEscaped
        } else {
            isInString = byte == .quote
            if open.contains(byte) { depth += 1 }
            if close.contains(byte) { depth -= 1 }
            deepest = max(deepest, depth)
        }
    }
    return deepest <= BlockContainers.depthMax
}

func scanError(in text: String) -> JSONError? { scanError(in: Array(text.utf8)) }

func slice(_ text: String) throws -> JSONSlice { try JSONSlice(validating: Bytes(text)) }

extension JSONSlice {
    var string: String { String(bytes) }
}
