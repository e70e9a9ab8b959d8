import Basics
import JSONText
import Testing

struct WritingTests {
    @Test(arguments: [
        ("", #""""#), ("plain", #""plain""#), ("a\"b\\c/d", #""a\"b\\c/d""#),
        ("\u{8}\t\n\u{c}\r\0\u{1f}\u{7f}", "\"\\b\\t\\n\\f\\r\\u0000\\u001f\u{7f}\""),
        ("é😀\u{2028}", "\"é😀\u{2028}\""),
    ])
    func escapesOnlyRequiredCharacters(_ text: String, _ written: String) throws {
        var bytes: [UInt8] = []
        bytes.append(jsonString: text)
        #expect(String(Bytes(bytes)) == written)
        #expect(try slice(written).text == Bytes(text))
    }

    @Test func buildsAnObjectOfNamedParts() throws {
        var builder = JSONObjectBuilder()
        #expect(try builder.add(JSONName("product"), slice(#" {"id": 1.0} "#)) == true)
        #expect(builder.add(JSONName("stock"), .null) == true)
        #expect(builder.add(JSONName("q\"")) { $0.append(literal: "true") } == true)
        let text = builder.finish().string
        #expect(text == #"{"product":{"id": 1.0},"stock":null,"q\"":true}"#)
    }

    @Test func anEmptyBuilderMakesAnEmptyObject() {
        let text = JSONObjectBuilder().finish().string
        #expect(text == "{}")
    }

    @Test func theFirstMemberWithAKeyWins() throws {
        var builder = JSONObjectBuilder()
        #expect(try builder.merge(slice(#"{"a":1,"b":2,"third":"kept"}"#)) == [])
        #expect(try builder.collisions(with: slice(#"{"b":3,"c":4}"#)) == ["b"])
        #expect(try builder.merge(slice(#"{"b":3,"c":4}"#)) == ["b"])
        #expect(builder.add(JSONName("third"), .null) == false)
        #expect(builder.add(JSONName("fourth"), .null) == true)
        #expect(
            try builder.merge(slice(#"{"x":0,"\u0061":9,"fourth":1,"y":[ ],"z":{}}"#)) == [
                "a", "fourth",
            ])
        let text = builder.finish().string
        #expect(text == #"{"a":1,"b":2,"third":"kept","c":4,"fourth":null,"x":0,"y":[ ],"z":{}}"#)
    }

    @Test func addedNamesCollideWithMergedKeys() throws {
        var builder = JSONObjectBuilder()
        #expect(builder.add(JSONName("n\n"), .null) == true)
        #expect(try builder.merge(slice(#"{"n\u000a":1,"m":2}"#)) == ["n\n"])
        let text = builder.finish().string
        #expect(text == #"{"n\n":null,"m":2}"#)
    }

    /// Whatever the order: the value of the merged object stays, at its own position.
    @Test func mergedMembersReplacePlaceholders() throws {
        var builder = JSONObjectBuilder()
        builder.addPlaceholder(JSONName("a"))
        builder.addPlaceholder(JSONName("b"))
        builder.addPlaceholder(JSONName("c"))
        #expect(try builder.collisions(with: slice(#"{"a":1}"#)) == [])
        #expect(try builder.merge(slice(#"{"\u0061":1,"x":2}"#)) == [])
        #expect(try builder.merge(slice(#"{"a":9,"c":3}"#)) == ["a"])
        builder.addPlaceholder(JSONName("x"))
        builder.addPlaceholder(JSONName("d"))
        #expect(try builder.merge(slice(#"{"x":8,"d":{"e":4},"b":[]}"#)) == ["x"])
        #expect(builder.add(JSONName("last"), .null) == true)
        let text = builder.finish().string
        #expect(text == #"{"\u0061":1,"x":2,"c":3,"d":{"e":4},"b":[],"last":null}"#)
    }

    @Test func placeholdersThatNothingReplacesAreNull() throws {
        var builder = JSONObjectBuilder()
        builder.addPlaceholder(JSONName("a"))
        #expect(try builder.merge(slice(#"{"b":1}"#)) == [])
        builder.addPlaceholder(JSONName("c"))
        #expect(try builder.merge(slice("{}")) == [])
        let text = builder.finish().string
        #expect(text == #"{"a":null,"b":1,"c":null}"#)
    }

    /// Each of its bytes may be an escape, and it may be anywhere in the text.
    @Test func reservedKeysAreFoundInEveryForm() throws {
        let name = "_gateway"
        for escaped in -1..<name.count {
            let key = name.enumerated().map { index, letter in
                index == escaped
                    ? "\\u00\(String(letter.asciiValue ?? 0, radix: 16))" : String(letter)
            }.joined()
            for before in 0..<20 {
                let padding = String(repeating: "f", count: before)
                var builder = JSONObjectBuilder(reserved: [JSONName(name)])
                let found = try builder.merge(slice("{\"\(padding)\":1,\"\(key)\":2,\"b\":3}"))
                #expect(found == [name])
                #expect(String(builder.finish().bytes) == "{\"\(padding)\":1,\"b\":3}")
            }
        }
    }

    @Test func reservedKeysAreLeftOut() throws {
        var builder = JSONObjectBuilder(reserved: [JSONName("_gateway")])
        #expect(try builder.merge(slice(#"{"_gateway":1}"#)) == ["_gateway"])
        #expect(
            try builder.merge(slice(#"{ "a" : 1 , "_gatewa\u0079":1, "b" :2 }"#)) == ["_gateway"])
        let text = builder.finish().string
        #expect(text == #"{"a" : 1,"b" :2}"#)
    }

    @Test func objectsWithoutCollisionsAreInsertedAsTheyAre() throws {
        var builder = JSONObjectBuilder(reserved: [JSONName("_gateway")])
        #expect(try builder.merge(slice("{ \"a\" : { } ,\n\"b_c\":[ 1 ]\t}")) == [])
        #expect(try builder.merge(slice(#"{"d":"\u005f_gateway"}"#)) == [])
        #expect(try builder.merge(slice(#"{"e":1,"a":2}"#)) == ["a"])
        let text = builder.finish().string
        #expect(text == "{\"a\" : { } ,\n\"b_c\":[ 1 ],\"d\":\"\\u005f_gateway\",\"e\":1}")
    }

    @Test func duplicateKeysWithinAnObjectAreKept() throws {
        var builder = JSONObjectBuilder()
        #expect(try builder.merge(slice(#"{"a":1,"a":2}"#)) == [])
        #expect(try builder.merge(slice(#"{"a":3,"b":1,"b":2,"a":4}"#)) == ["a", "a"])
        let text = builder.finish().string
        #expect(text == #"{"a":1,"a":2,"b":1,"b":2}"#)
    }

    @Test func emptyObjectsAddNothing() throws {
        var builder = JSONObjectBuilder()
        #expect(try builder.merge(slice("{ }")) == [])
        #expect(builder.add(JSONName("a"), .null) == true)
        #expect(try builder.merge(slice("{}")) == [])
        let text = builder.finish().string
        #expect(text == #"{"a":null}"#)
    }
}
