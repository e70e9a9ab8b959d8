import Testing

@testable import YAMLReader

@Suite struct SourceLocationTests {
    @Test func aFileNameIsStoredOnce() {
        let first = FileName("source-location-tests/one.yaml")
        let other = FileName("source-location-tests/two.yaml")
        #expect(first == FileName("source-location-tests/" + "one.yaml"))
        #expect(first != other)
        #expect(first.text == "source-location-tests/one.yaml")
        #expect(other.text == "source-location-tests/two.yaml")
    }

    @Test func locationsDifferInEachOfTheirParts() {
        let location = SourceLocation(file: "a.yaml", line: 2, column: 3)
        #expect(location == SourceLocation(FileName("a.yaml"), line: 2, column: 3))
        #expect(location != SourceLocation(file: "b.yaml", line: 2, column: 3))
        #expect(location != SourceLocation(file: "a.yaml", line: 1, column: 3))
        #expect(location != location.advanced(by: 1))
        #expect(location.advanced(by: 4).description == "a.yaml:2:7")
    }

    @Test("numbers that do not fit are clamped", arguments: [(-1, 0), (1 << 40, (1 << 32) - 1)])
    func numbersAreClamped(_ number: Int, stored: Int) {
        let location = SourceLocation(file: "a.yaml", line: number, column: number)
        #expect(location.line == stored)
        #expect(location.column == stored)
    }

    @Test func threadsShareTheNames() async {
        let names = (0..<64).map { "source-location-tests/\($0).yaml" }
        let found = await withTaskGroup(of: [FileName].self) { group in
            for _ in 0..<8 { group.addTask { names.map { FileName($0) } } }
            return await group.reduce(into: [[FileName]]()) { $0.append($1) }
        }
        #expect(Set(found).count == 1)
        #expect(found[0].map(\.text) == names)
    }
}
