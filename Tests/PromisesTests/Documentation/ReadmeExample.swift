import Foundation
import Promises
import Testing

/// The code of the library's README.
@Suite(.timeLimit(.minutes(5))) struct ReadmeExample {
    /// In a process of its own: the time limit is real, and other tests delay the global executor.
    @Test func twentyLines() async {
        await #expect(processExitsWith: .success) {
            var printed: [String] = []
            func print(_ text: String) { printed.append(text) }
            // snippet: readme
            struct SoldOut: Error {}
            func price(of item: Int) -> Promise<Double> { Promise { Double(item) * 1.5 } }
            func stock(of item: Int) -> Promise<Int> {
                item == 2 ? .error(SoldOut()) : .value(item * 10)
            }

            let page = all(price(of: 7), stock(of: 7))
                .map { price, stock in "\(stock) in stock for \(price)" }
                .timeout(.seconds(2))
                .recover { error in .value("not available: \(error)") }

            let levels = any([(key: 1, promise: stock(of: 1)), (key: 2, promise: stock(of: 2))])
                .map { result in
                    let first = try result.requiredValue(for: 1)  // rejects if item 1 failed
                    let second = result.values[2].map { "\($0)" } ?? "unknown"  // item 2 may fail
                    return "\(first), and \(second)"
                }

            print(try await page.get())  // 70 in stock for 10.5
            print(try await levels.get())  // 10, and unknown
            // end
            #expect(printed == ["70 in stock for 10.5", "10, and unknown"])
        }
    }

    /// The block of the README that begins with the import is the code above.
    @Test func theReadmeShowsTheCodeAbove() throws {
        let page = try Repository.file("Sources/Promises/README.md").text
        let block = try #require(
            SnippetTests.blocks(of: page).first { $0.code.hasPrefix("import Promises\n\n") })
        let code = block.code.dropFirst("import Promises\n\n".count)
        #expect(try String(code) == SnippetTests.snippets()["readme"])
        #expect(page.contains("```swift\nimport Promises\n"))
    }
}
