import Foundation
import Testing

/// The landing page of the documentation lists what a user looks for first.
@Suite struct LandingPageTests {
    /// Functions without a type appear in no other list of the documentation.
    @Test func everyFreeFunctionIsListed() throws {
        let page = try Repository.file("Sources/Promises/Promises.docc/Promises.md").text
        let functions = try Repository.swiftFiles(under: "Sources/Promises").flatMap { file in
            file.lines.compactMap { $0.firstMatch(of: /^public func (\w+)/).map { String($0.1) } }
        }
        for name in Set(functions).sorted() {
            #expect(page.contains("- ``\(name)("), "\(name)")
        }
        #expect(Set(functions).isSuperset(of: ["all", "any", "race", "after", "retry"]))
    }

    @Test func everyArticleIsListed() throws {
        let page = try Repository.file("Sources/Promises/Promises.docc/Promises.md").text
        let folder = Repository.root.appending(path: "Sources/Promises/Promises.docc")
        let articles = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix(".md") && $0 != "Promises.md" }
        for article in articles {
            #expect(page.contains("<doc:\(article.dropLast(3))"), "\(article)")
        }
        #expect(articles.count > 10)
    }
}
