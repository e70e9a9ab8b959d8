import Foundation
import Testing

/// The deliberate faults of `Tests/Verify/mutations` are patches, which must apply to the current code.
@Suite struct MutationTests {
    private static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    @Test func patchesApplyInOrder() throws {
        let folder = Self.root.appending(path: "Tests/SimulationTests/Mutations")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        var copy = PatchedFiles(root: Self.root)
        for name in names {
            let text = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
            let problems = copy.apply(text)
            #expect(problems.isEmpty, "\(name): \(problems)")
        }
        #expect(names.count > 25 && copy.texts.count > 15)
    }

    @Test func reportsPatchWithMissingContext() {
        var copy = PatchedFiles(root: Self.root)
        let patch = """
            +++ b/Package.swift
            @@ -1,2 +1,2 @@
             a line that no file has
            -let package = Package(
            +let package = nil
            """
        #expect(copy.apply(patch) == ["Package.swift has no 'a line that no file has'"])
    }

    @Test func appliesMatchingPatch() throws {
        var copy = PatchedFiles(root: Self.root)
        let patch = "+++ b/Package.swift\n@@ -1,1 +1,1 @@\n-let package = Package(\n+changed(\n"
        #expect(copy.apply(patch).isEmpty)
        #expect(try #require(copy.texts["Package.swift"]).contains("\nchanged(\n"))
    }
}

/// Files of the project with patches applied to them, in memory.
private struct PatchedFiles {
    let root: URL
    /// The changed files, by path.
    private(set) var texts: [String: String] = [:]

    init(root: URL) { self.root = root }

    /// Applies a patch in unified format wherever its context is found, and returns what does not match.
    mutating func apply(_ patch: String) -> [String] {
        var problems: [String] = []
        var path = ""
        var hunk: (old: [Substring], new: [Substring])?
        for line in patch.split(separator: "\n", omittingEmptySubsequences: false) {
            switch line.prefix(1) {
            case _ where line.hasPrefix("--- "), "d", "n", "i": continue
            case _ where line.hasPrefix("+++ b/"):
                problems += finish(&hunk, path)
                path = String(line.dropFirst(6))
            case "@":
                problems += finish(&hunk, path)
                hunk = ([], [])
            case " ":
                hunk?.old.append(line.dropFirst())
                hunk?.new.append(line.dropFirst())
            case "-": hunk?.old.append(line.dropFirst())
            case "+": hunk?.new.append(line.dropFirst())
            default: continue
            }
        }
        return problems + finish(&hunk, path)
    }

    private mutating func finish(
        _ hunk: inout (old: [Substring], new: [Substring])?, _ path: String
    ) -> [String] {
        guard let (old, new) = hunk else { return [] }
        hunk = nil
        let text =
            texts[path]
            ?? (try? String(contentsOf: root.appending(path: path), encoding: .utf8)) ?? "\n"
        guard let range = ("\n" + text).firstRange(of: "\n" + old.map { $0 + "\n" }.joined())
        else { return ["\(path) has no '\(old.first { !$0.isEmpty } ?? "")'"] }
        texts[path] = String(
            ("\n" + text).replacingCharacters(
                in: range, with: "\n" + new.map { $0 + "\n" }.joined()
            ).dropFirst())
        return []
    }
}

extension String {
    fileprivate func replacingCharacters(in range: Range<Index>, with text: String) -> String {
        var copy = self
        copy.replaceSubrange(range, with: text)
        return copy
    }
}
