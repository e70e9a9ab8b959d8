import Foundation
import Testing

/// P5: a ten-link chain whose closures have several statements type-checks quickly, without type
/// annotations.
///
/// The compiler counts the steps of its constraint solver (scopes) and gives up at a limit. Unlike
/// time, that number does not depend on the machine or on what else runs there.
@Suite(.timeLimit(.minutes(5))) struct CompileTimeTests {
    /// Two and a half times what Swift 6.3.1 needs, 150.
    static let scopesMax = 375

    /// Fewer than the chain needs, to show that the limit is in force.
    static let scopesTooFew = 75

    static let chain = """
        import Promises
        struct User: Sendable { var id: Int; var name: String }
        func fetch(_ id: Int) -> Promise<User> { .value(User(id: id, name: "a")) }
        func tenLinks(_ source: Promise<String>, log: @escaping @Sendable (String) -> Void)
            -> Promise<String>
        {
            source
                .map { text in
                    let trimmed = text.filter { $0.isNumber }
                    log(trimmed)
                    return Int(trimmed) ?? 0
                }
                .validate { number in
                    let limit = 1_000
                    return number < limit
                }
                .then { number in
                    log("fetching")
                    return fetch(number)
                }
                .onValue { user in
                    let line = "user " + user.name
                    log(line)
                }
                .compactMap { user in
                    let isNamed = !user.name.isEmpty
                    return isNamed ? user : nil
                }
                .adding { user in
                    let next = user.id + 1
                    return fetch(next)
                }
                .map { first, second in
                    let names = [first.name, second.name]
                    return names.sorted()
                }
                .recover { error in
                    log("\\(error)")
                    return .value(["unknown"])
                }
                .onFailure { error in
                    let text = "\\(error)"
                    log(text)
                }
                .map { names in
                    let list = names.joined(separator: ", ")
                    return "<" + list + ">"
                }
                .ensure { log("over") }
        }
        """

    @Test(.enabled(if: Compiler.found != nil, "no swiftc on the path, or no built module"))
    func aTenLinkChainTypeChecksWithinTheScopeLimit() throws {
        let compiler = try #require(Compiler.found)
        let (isRight, text) = try check(upTo: Self.scopesMax, compiler)
        #expect(isRight, "\(text)")
        let (isRightWithTooFew, refusal) = try check(upTo: Self.scopesTooFew, compiler)
        #expect(!isRightWithTooFew, "the limit is not in force")
        #expect(refusal.contains("unable to type-check this expression in reasonable time"))
    }

    private func check(
        upTo scopes: Int, _ compiler: Compiler
    ) throws -> (isRight: Bool, text: String) {
        try compiler.typecheck(Self.chain, "-solver-scope-threshold=\(scopes)")
    }
}
