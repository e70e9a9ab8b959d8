import Foundation
import Testing

/// Every input that was ever kept, and some thousand changed ones, through the functions that
/// `script/fuzz` gives to libFuzzer: what crashed once is a test for ever.
@Suite struct ReplayTests {
    @Test(arguments: FuzzTarget.all) func theCorpusIsTakenWell(_ target: FuzzTarget) throws {
        let corpus = try Corpus.inputs(of: target)
        try #require(!corpus.isEmpty)
        for (name, input) in corpus {
            let finding = target.finding(input)
            #expect(finding == nil, "\(name)")
        }
    }

    @Test(arguments: FuzzTarget.all, 0..<UInt64(4))
    func changedInputsAreTakenWell(_ target: FuzzTarget, seed: UInt64) throws {
        let corpus = try Corpus.inputs(of: target).map(\.input)
        let mutator = Mutator(seed: seed, tokens: target.tokens, corpus: corpus)
        for _ in 0..<500 {
            let input = mutator.next()
            let finding = target.finding(input)
            #expect(finding == nil, "\(Data(input).base64EncodedString())")
        }
    }

    @Test func everyCorpusHasATarget() throws {
        let folders = try FileManager.default.contentsOfDirectory(atPath: Corpus.folder.path)
        #expect(Set(folders) == Set(FuzzTarget.all.map(\.name)))
    }
}

extension FuzzTarget: CustomTestStringConvertible {
    var testDescription: String { name }
}

/// The inputs that are kept: seeds, and what was found.
enum Corpus {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "Corpora")

    static func inputs(of target: FuzzTarget) throws -> [(name: String, input: [UInt8])] {
        let folder = folder.appending(path: target.name)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        return try names.map { name in
            (name, Array(try Data(contentsOf: folder.appending(path: name))))
        }
    }
}
