import Basics
import Testing

@testable import HTTP

/// Reading and shortening `tracestate` (W3C Trace Context, section 3.3).
@Suite struct TraceStateTests {
    private func state(_ lines: String...) throws -> String? { try state(lines) }

    private func state(_ lines: [String]) throws -> String? {
        var fields = Fields()
        for line in lines { fields.append("tracestate", try #require(FieldValue(line))) }
        return TraceState(fields).map { String($0.text) }
    }

    @Test func linesAreCombinedInOrder() throws {
        #expect(try state("a=1,b=2", "c=3") == "a=1,b=2,c=3")
        #expect(try state(" a=1 \t, ,b=2,") == "a=1,b=2")
        #expect(try state() == nil && state("") == nil && state(" , ") == nil)
    }

    @Test(arguments: [
        "a=1", "0a=1", "a_-*/b=x y", "tenant@system=1", "a=!~+",
        "\(String(repeating: "k", count: 256))=1",
        "a=\(String(repeating: "v", count: 256))",
    ])
    func wellFormedMembersPass(_ member: String) throws {
        #expect(try state(member) == member)
    }

    @Test(arguments: [
        "a", "=1", "a=", "A=1", "a b=1", "a=1=2", "_a=1", "a=ä", "a=1,b",
        "\(String(repeating: "k", count: 257))=1", "a=\(String(repeating: "v", count: 257))",
    ])
    func oneMalformedMemberDropsTheList(_ line: String) throws {
        #expect(try state("z=1", line) == nil)
        #expect(try state("z=1", "y=1") == "z=1,y=1")
    }

    /// They are those of other systems, which may need them.
    @Test(arguments: ["a=1,a=1", "a=1,a=2", "a=1,b=2,a=3"])
    func membersWithTheSameKeyStay(_ list: String) throws {
        #expect(try state(list) == list)
        #expect(try state(list, "a=4") == "\(list),a=4")
    }

    @Test func atMost32Members() throws {
        let members = (0..<33).map { "k\($0)=v" }
        #expect(try state(Array(members.prefix(32))) == members.prefix(32).joined(separator: ","))
        #expect(try state(members) == nil)
    }

    @Test func longMembersAreRemovedFirstAndThenThoseAtTheEnd() throws {
        let long = "long=\(String(repeating: "v", count: 124))"
        let short = (0..<5).map { "k\($0)=\(String(repeating: "v", count: 97))" }
        // 5 times 100 bytes and 4 commas: 504 bytes.
        let fits = short.joined(separator: ",")
        #expect(try state(fits) == fits)
        #expect(try state(long, fits) == fits)
        let many = (0..<7).map { "m\($0)=\(String(repeating: "v", count: 97))" }
        #expect(try state(many + [long]) == many.prefix(5).joined(separator: ","))
    }

    @Test func exactly512BytesPass() throws {
        let members = (0..<4).map { "k\($0)=\(String(repeating: "v", count: 124))" }
        let list = members.joined(separator: ",")
        #expect(list.utf8.count == 511)
        #expect(try state(list + "w") == list + "w")
        #expect(try state(list + "ww") == members.dropLast().joined(separator: ","))
    }
}
