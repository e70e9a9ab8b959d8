import Basics

@testable import JSONText

extension FuzzTarget {
    /// A backend's response: validated, iterated, shaped and merged.
    static let json = FuzzTarget(
        name: "json",
        tokens: [
            "{", "}", "[", "]", ",", ":", "\"", "\"a\":", "\\u00e9", "\\ud83d\\ude00", "\\ud800",
            "\\\"", "\\\\", "true", "false", "null", "-0", "1e400", "0.1", " ", "\n", "é", "\u{7f}",
            "[[[[[[[[", "]]]]]]]]", "\"b\"", "{\"b\":1}", "\\u0061",
        ]
    ) { input in
        if let difference = blockDifference(input) { return difference }
        guard let value = try? JSONSlice(validating: Bytes(input)) else {
            return (try? JSONSlice.range(in: input.span)) == nil ? nil : "two different results"
        }
        if let part = brokenPart(of: value) { return "a part is not JSON: \(String(part.bytes))" }
        for shape in shapes {
            var dropped: [String] = []
            guard let shaped = try? shape.applied(to: value, reporting: &dropped) else { continue }
            guard isJSON(shaped) else {
                return "a shaped value is not JSON: \(String(shaped.bytes))"
            }
            // Otherwise a response could grow beyond its limit. Brackets may be added.
            guard shaped.bytes.count <= input.count + 16 else { return "a shaped value is longer" }
        }
        var object = JSONObjectBuilder(reserved: [JSONName("_gateway")])
        let first = object.merge(value)
        let second = object.merge(value)
        _ = object.add(JSONName("a"), value)
        let merged = object.finish()
        guard isJSON(merged) else { return "a merged value is not JSON: \(String(merged.bytes))" }
        var draft = JSONDraft(merged)
        for path in [["a", "b"], ["b"], ["a", "b", "c"]] {
            let names = path.map { JSONName($0) }
            _ = draft.add(value, at: names)
            _ = draft.append(value, to: names)
            draft.addPlaceholder(at: names)
        }
        let placed = draft.finish()
        guard isJSON(placed) else { return "a placed value is not JSON: \(String(placed.bytes))" }
        // Every key of the first merge collides in the second.
        return second.count >= first.count ? nil : "a key was merged twice"
    }

    /// Texts of every length are scanned in blocks here, with all instruction sets.
    private static func blockDifference(_ input: [UInt8]) -> String? {
        let depthMax = JSONSlice.depthMax
        let range = try? JSONScanner(input.span, depthMax: depthMax).wholeText()
        for (index, classifier) in BlockClassifier.all.enumerated() {
            let inBlocks = BlockScanner(input.span, depthMax: depthMax, classifier).wholeText()
            if inBlocks != nil && inBlocks != range { return "classifier \(index) differs" }
        }
        return nil
    }

    /// The rules of shapes on keys, through arrays and with escapes.
    private static let shapes: [JSONShape] = {
        let path = { (text: String) in try? JSONPath(text) }
        let a = [path("a"), path("a.b"), path("[].a")].compactMap(\.self)
        let all = [path("[]"), path("[0]"), path("a[].b")].compactMap(\.self)
        let renames = [path("a"), path("[].b")].compactMap(\.self)
            .map { JSONShape.Rename($0, to: "c\"") }
        return [
            try? JSONShape(keep: a), try? JSONShape(drop: a), try? JSONShape(rename: renames),
            try? JSONShape(keep: all, drop: a, rename: renames),
            try? JSONShape(take: path("a")), try? JSONShape(take: path("[].a"), keep: all),
            try? JSONShape(usesCamelCase: true),
            try? JSONShape(drop: a, rename: renames, usesCamelCase: true),
            try? JSONShape(keep: all, usesCamelCase: true),
        ].compactMap(\.self)
    }()

    private static func isJSON(_ slice: JSONSlice) -> Bool {
        (try? JSONSlice.range(in: slice.bytes.span, depthMax: 1024)) == 0..<slice.bytes.count
    }

    /// Members and elements must be valid values; few levels are enough, because deeper ones have
    /// the same form.
    private static func brokenPart(of value: JSONSlice) -> JSONSlice? {
        var open = [value]
        var checked = 0
        while let slice = open.popLast(), checked < 64 {
            checked += 1
            guard isJSON(slice) else { return slice }
            open += slice.members.map(\.value)
            open += slice.elements
            _ = slice.text
        }
        return nil
    }
}
