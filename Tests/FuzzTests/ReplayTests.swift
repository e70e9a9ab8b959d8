import Foundation
import Testing

/// Runs every input of the corpora, and some thousand mutations, through the functions that
/// `script/fuzz` passes to libFuzzer. Inputs that once crashed stay in the corpora as regression
/// tests.
@Suite struct ReplayTests {
    @Test(arguments: FuzzTarget.all) func corpusInputsCauseNoViolation(_ target: FuzzTarget) throws
    {
        let corpus = try Corpus.inputs(of: target)
        try #require(!corpus.isEmpty)
        for (name, input) in corpus {
            let violation = target.violation(input)
            #expect(violation == nil, "\(name)")
        }
    }

    @Test(arguments: FuzzTarget.all, 0..<UInt64(4))
    func mutatedInputsCauseNoViolation(_ target: FuzzTarget, seed: UInt64) throws {
        let corpus = try Corpus.inputs(of: target).map(\.input)
        let mutator = Mutator(seed: seed, tokens: target.tokens, corpus: corpus)
        for _ in 0..<500 {
            let input = mutator.nextInput()
            let violation = target.violation(input)
            #expect(violation == nil, "\(Data(input).base64EncodedString())")
        }
    }

    @Test func everyCorpusBelongsToATarget() throws {
        let folders = try FileManager.default.contentsOfDirectory(atPath: Corpus.folder.path)
        #expect(Set(folders) == Set(FuzzTarget.all.map(\.name)))
    }
}

extension FuzzTarget: CustomTestStringConvertible {
    var testDescription: String { name }
}

/// The stored inputs: seeds and findings.
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
