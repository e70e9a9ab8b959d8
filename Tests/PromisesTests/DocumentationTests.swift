import Foundation
import Testing

/// Every public declaration has a comment; the comments of promises and handlers state certain
/// facts.
@Suite(.timeLimit(.minutes(5))) struct DocumentationTests {
    static let targets = ["Promises", "PromiseOperators", "PromisesDispatch"]

    @Test(arguments: targets)
    func everyPublicDeclarationHasAComment(target: String) throws {
        let declarations = try Self.declarations(in: target)
        for declaration in declarations {
            #expect(!declaration.comment.isEmpty, "\(declaration)")
        }
        #expect(declarations.count >= 4)
    }

    /// A fact that the comment of a declaration must state, and the words that indicate it.
    enum Fact: String, CaseIterable, CustomTestStringConvertible {
        case context = "on which context a handler runs"
        case order = "when a handler runs"
        case failure = "what a throw does"
        case cancellation = "what cancelling does"

        var testDescription: String { rawValue }

        func isRequired(of declaration: Declaration) -> Bool {
            switch self {
            case .context, .order: declaration.takesHandler
            case .failure: declaration.text.contains(" throws")
            case .cancellation: declaration.makesPromise
            }
        }

        func isStated(in comment: String) -> Bool {
            words.contains { comment.contains($0) }
        }

        private var words: [String] {
            switch self {
            case .context: ["context", "where", "thread", "global executor", "main actor"]
            case .order: ["turn", "soon", "now", "at once", "one at a time", "alled once"]
            case .failure: ["throw", "Throw"]
            case .cancellation: ["ancel", "withdraw"]
            }
        }
    }

    @Test(arguments: targets, Fact.allCases)
    func everyPublicDeclarationStatesItsFacts(target: String, _ fact: Fact) throws {
        for declaration in try Self.declarations(in: target) where fact.isRequired(of: declaration)
        {
            #expect(fact.isStated(in: declaration.comment), "\(declaration): \(fact.rawValue)?")
        }
    }

    @Test func declarationsAreParsed() throws {
        let declarations = Self.declarations(
            in: Repository.File(
                path: "x.swift",
                text: """
                    public enum E {
                        /// One.
                        case one
                        case two
                    }
                    extension P {
                        /// Maps,
                        /// or not.
                        @inlinable
                        public func map(
                            _ body: @escaping (Int) throws -> Int
                        ) -> Promise<Int> {
                            let x: Int
                        }
                    }
                    """))
        #expect(declarations.map(\.comment) == ["", "One.", "", "Maps, or not."])
        #expect(declarations.map(\.takesHandler) == [false, false, false, true])
        #expect(declarations.map(\.makesPromise) == [false, false, false, true])
    }

    // MARK: Reading the sources.

    struct Declaration: CustomStringConvertible {
        let location: String
        /// The declaration up to its body.
        let text: String
        let comment: String

        var description: String { "\(location): \(text)" }

        var takesHandler: Bool { text.contains("@escaping") && text.contains("func ") }

        var makesPromise: Bool {
            let type =
                text.contains("func ")
                ? text.components(separatedBy: "->").last ?? ""
                : text.contains("var ") ? text.components(separatedBy: ":").last ?? "" : ""
            let makes =
                type.firstMatch(of: /^\s*(Promise|LocalPromise|Guarantee)\b/) != nil
            return makes || text.contains(" init(") && text.contains("awaiting")
        }
    }

    private static func declarations(in target: String) throws -> [Declaration] {
        try Repository.swiftFiles(under: "Sources/\(target)").flatMap { declarations(in: $0) }
    }

    private static func declarations(in file: Repository.File) -> [Declaration] {
        let lines = file.lines
        var found: [Declaration] = []
        // The indentation of the public enum whose cases are public without the keyword.
        var enumIndent: Int?
        for (index, line) in lines.enumerated() {
            let indent = line.prefix { $0 == " " }.count
            let isPublic = isPublic(line)
            if isPublic, line.contains(" enum ") { enumIndent = indent }
            if line.hasSuffix("}"), let outer = enumIndent, indent <= outer { enumIndent = nil }
            let isCase = enumIndent.map { indent == $0 + 4 } ?? false && line.contains(/^ *case \w/)
            // Unavailable declarations need no comment.
            let forbids = index > 0 && lines[index - 1].contains("unavailable, *")
            guard isPublic || isCase, !forbids else { continue }
            found.append(
                Declaration(
                    location: "\(file.path):\(index + 1)", text: text(from: index, in: lines),
                    comment: comment(before: index, in: lines)))
        }
        return found
    }

    private static func isPublic(_ line: String) -> Bool {
        let words = line.split(separator: " ")
        guard let at = words.firstIndex(where: { $0 == "public" || $0 == "open" }) else {
            return false
        }
        // Only attributes may precede the keyword.
        return words[..<at].allSatisfy { $0.hasPrefix("@") }
            && !(words.dropFirst(at + 1).first == "import")
    }

    private static func text(from index: Int, in lines: [String]) -> String {
        var text = ""
        for line in lines[index...] {
            text += " " + line.trimmingCharacters(in: .whitespaces)
            let isClosed = text.count { $0 == "(" } == text.count { $0 == ")" }
            if isClosed, text.contains("{") || !text.contains("func ") { break }
        }
        return String(text.prefix { $0 != "{" })
    }

    private static func comment(before index: Int, in lines: [String]) -> String {
        var comment: [String] = []
        for line in lines[..<index].reversed() {
            let line = line.trimmingCharacters(in: .whitespaces)
            if line.hasPrefix("///") {
                comment.append(line.dropFirst(3).trimmingCharacters(in: .whitespaces))
            } else if !line.hasPrefix("@") {
                break
            }
        }
        return comment.reversed().filter { !$0.isEmpty }.joined(separator: " ")
    }
}
