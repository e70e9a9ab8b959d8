import Foundation
import Testing

/// The deliberate faults of `script/mutations` are patches; they must fit the code as it is now.
@Suite struct MutationTests {
    private static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    @Test func everyPatchAppliesAfterTheOnesBeforeIt() throws {
        let folder = Self.root.appending(path: "Tests/SimulationTests/Mutations")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        var copy = PatchedFiles(root: Self.root)
        for name in names {
            let text = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
            let mistakes = copy.apply(text)
            #expect(mistakes.isEmpty, "\(name): \(mistakes)")
        }
        #expect(names.count > 25 && copy.texts.count > 15)
    }

    @Test func aPatchWhoseContextIsGoneIsReported() {
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

    @Test func aPatchThatFitsChangesTheText() throws {
        var copy = PatchedFiles(root: Self.root)
        let patch = "+++ b/Package.swift\n@@ -1,1 +1,1 @@\n-let package = Package(\n+changed(\n"
        #expect(copy.apply(patch).isEmpty)
        #expect(try #require(copy.texts["Package.swift"]).contains("\nchanged(\n"))
    }
}

/// Files of the project with patches applied to them, in memory.
private struct PatchedFiles {
    let root: URL
    /// By their paths.
    private(set) var texts: [String: String] = [:]

    init(root: URL) { self.root = root }

    /// Applies a patch in unified format wherever its context is found; gives what does not fit.
    mutating func apply(_ patch: String) -> [String] {
        var mistakes: [String] = []
        var path = ""
        var hunk: (old: [Substring], new: [Substring])?
        for line in patch.split(separator: "\n", omittingEmptySubsequences: false) {
            switch line.prefix(1) {
            case _ where line.hasPrefix("--- "), "d", "n", "i": continue
            case _ where line.hasPrefix("+++ b/"):
                mistakes += finish(&hunk, path)
                path = String(line.dropFirst(6))
            case "@":
                mistakes += finish(&hunk, path)
                hunk = ([], [])
            case " ":
                hunk?.old.append(line.dropFirst())
                hunk?.new.append(line.dropFirst())
            case "-": hunk?.old.append(line.dropFirst())
            case "+": hunk?.new.append(line.dropFirst())
            default: continue
            }
        }
        return mistakes + finish(&hunk, path)
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
