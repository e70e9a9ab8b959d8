import Testing

/// What the compiler accepts, and its messages: checked with separate sources against the built
/// module.
@Suite(
    .timeLimit(.minutes(5)),
    .enabled(if: Compiler.found != nil, "no swiftc on the path, or no built module"))
struct CompilerMessageTests {
    @Test func allOfAnArrayOfDifferentTypesSuggestsArguments() throws {
        let compiler = try #require(Compiler.found)
        let declarations = """
            import Promises
            func load(_ number: Promise<Int>, _ text: Promise<String>) {

            """
        let wrong = try compiler.typecheck(
            declarations + "    all([number, text]).cauterize()\n}\n")
        #expect(!wrong.isRight)
        let errors = wrong.text.split(separator: "\n").filter { $0.contains(": error: ") }
        #expect(errors.count == 1, "\(wrong.text)")
        #expect(
            errors.first?.contains("for different types of values write all(first, second)")
                == true, "\(wrong.text)")
        let right = try compiler.typecheck(
            declarations + "    all(number, text).cauterize()\n    all([number]).cauterize()\n}\n")
        #expect(right.isRight, "\(right.text)")
    }

    @Test(arguments: [
        ("any([number, number]).cauterize()", "any needs keys: any(["),
        ("let done: Promise<Void> = .value; done.cauterize()", "write .value() for"),
        ("let done: Guarantee<Void> = .value; done.done {}", "write .value() for"),
    ])
    func frequentMistakesGetOneHelpfulMessage(_ line: String, _ message: String) throws {
        let compiler = try #require(Compiler.found)
        let checked = try compiler.typecheck(
            "import Promises\nfunc load(_ number: Promise<Int>) {\n    \(line)\n}\n")
        let errors = checked.text.split(separator: "\n").filter { $0.contains(": error: ") }
        #expect(errors.count == 1, "\(checked.text)")
        #expect(errors.first?.contains(message) == true, "\(checked.text)")
    }

    @Test func theRightFormsOfFrequentMistakesCompile() throws {
        let compiler = try #require(Compiler.found)
        let checked = try compiler.typecheck(
            """
            import Promises
            func load(_ number: Promise<Int>, _ signal: Promise<Void>) -> Promise<Void> {
                any(["a": number, "b": number]).cauterize()
                any([(key: 1, promise: number)]).cauterize()
                if signal.value == nil, number.value == 1 { return .value(()) }
                return .value()
            }
            """)
        #expect(checked.isRight, "\(checked.text)")
    }

    /// In a main file a constant is global, and the consumption of a global is an error.
    @Test func theFirstSnippetOfTheEssentialsCompilesInAMainFile() throws {
        let compiler = try #require(Compiler.found)
        let page = try Repository.file("Sources/Promises/Promises.docc/Essentials.md").text
        let first = try #require(SnippetTests.blocks(of: page).first)
        #expect(first.name == "resolver")
        let checked = try compiler.typecheck(
            "import Promises\n\n\(first.code)\n", mode: "-emit-sil")
        #expect(checked.isRight, "\(checked.text)")
        let global = try compiler.typecheck(
            "import Promises\nlet resolver = Resolver<Int>()\nresolver.fulfill(1)\n",
            mode: "-emit-sil")
        #expect(!global.isRight)
    }

    /// A method of the caller's type hides a free function of the same name; the name of the module
    /// makes it visible.
    @Test func theModuleNameQualifiesHiddenFunctions() throws {
        let compiler = try #require(Compiler.found)
        func source(_ prefix: String) -> String {
            """
            import Promises
            struct Loader {
                func all(_ name: String) -> Int { 0 }
                func any() -> Int { 0 }
                func race(_ laps: Int) {}
                func after(_ name: String) {}
                func load(_ number: Promise<Int>) {
                    \(prefix)all([number]).cauterize()
                    \(prefix)any(["a": number]).cauterize()
                    \(prefix)race(number, number).cauterize()
                    \(prefix)after(.seconds(1)).done {}
                }
            }
            """
        }
        let qualified = try compiler.typecheck(source("Promises."))
        #expect(qualified.isRight, "\(qualified.text)")
        #expect(try !compiler.typecheck(source("")).isRight)
    }

    @Test func multiStatementClosuresSelectGuaranteeOrPromise() throws {
        let compiler = try #require(Compiler.found)
        let checked = try compiler.typecheck(
            """
            import Promises
            func load(_ guarantee: Guarantee<Int>) -> (Promise<String>, Guarantee<String>) {
                let promise = guarantee.then { value in
                    let text = "\\(value)"
                    return Promise.value(text)
                }
                let other = guarantee.then { value in
                    let text = "\\(value)"
                    return Guarantee.value(text)
                }
                return (promise, other)
            }
            """)
        #expect(checked.isRight, "\(checked.text)")
    }

    @Test func onlyMainActorHandlersMayUseMainActorState() throws {
        let compiler = try #require(Compiler.found)
        func source(_ path: String) -> String {
            """
            import Promises
            @MainActor final class Model { var count = 0 }
            @MainActor func load(_ promise: Promise<Int>, into model: Model) {
                promise\(path).done { model.count = $0 }.catch { _ in }
            }
            """
        }
        let isolated = try compiler.typecheck(source(".onMainActor"))
        #expect(isolated.isRight, "\(isolated.text)")
        #expect(try !compiler.typecheck(source("")).isRight)
    }
}
