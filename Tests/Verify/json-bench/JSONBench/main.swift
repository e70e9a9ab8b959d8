import Basics
import Peers

@testable import JSONText

/// Prints tables in Markdown; with the arguments TEXT, SCANNER and COUNT it only validates the text so
/// many times, for a tool that counts instructions.
func padded(_ text: Text) -> [UInt8] { text.bytes + [UInt8](repeating: 0, count: 64) }

func printTable(_ texts: [Text], _ scanners: [Scanner]) {
    print("| text | bytes | " + scanners.map(\.name).joined(separator: " | ") + " |")
    print("|---|" + String(repeating: "---|", count: scanners.count + 1))
    for text in texts {
        let memory = padded(text)
        let actions = scanners.map { scanner in
            {
                guard scanner.validates(memory, text.bytes.count) else {
                    fatalError("\(scanner.name) refuses \(text.name)")
                }
            }
        }
        let speeds = speeds(bytes: text.bytes.count, actions).map { rounded($0) }
        print("| \(text.name) | \(text.bytes.count) | " + speeds.joined(separator: " | ") + " |")
    }
}

/// Three bodies validated and inserted into one object, as for a request with three calls.
func printSplice() {
    print("| three bodies | validate without blocks, splice | validate, splice | splice | copy |")
    print("|---|---|---|---|---|")
    let names = ["first", "second", "third"].map { JSONName($0) }
    for text in Text.bodies {
        let body = Bytes(text.bytes)
        /// Validates unless the slice is given.
        func splice(_ validate: () -> JSONSlice?) {
            var object = JSONObjectBuilder(capacity: 3 * body.count + 60)
            for name in names {
                guard let slice = validate() else { fatalError("not valid") }
                _ = object.add(name, slice)
            }
            guard object.finish().bytes.count > 3 * body.count else { fatalError("too short") }
        }
        let slice = try? JSONSlice(validating: body)
        let speeds = speeds(
            bytes: 3 * body.count,
            [
                { splice { JSONSlice(validatingWithoutBlocks: body) } },
                { splice { try? JSONSlice(validating: body) } },
                { splice { slice } },
                {
                    var copy: [UInt8] = []
                    copy.reserveCapacity(3 * body.count + 62)
                    for _ in names { copy.append(body) }
                    guard copy.count == 3 * body.count else { fatalError("too short") }
                },
            ])
        print("| \(text.name) | " + speeds.map { rounded($0) }.joined(separator: " | ") + " |")
    }
}

extension JSONSlice {
    init?(validatingWithoutBlocks text: Bytes) {
        let scanner = JSONScanner(text.span, depthMax: JSONSlice.depthMax)
        guard let range = try? scanner.wholeText() else { return nil }
        self.init(known: text[range])
    }
}

let arguments = CommandLine.arguments.dropFirst().map(\.self)
if arguments.count == 3, let count = Int(arguments[2]),
    let text = (Text.bodies + Text.kinds).first(where: { $0.name == arguments[0] }),
    let scanner = Scanner.all.first(where: { $0.name == arguments[1] })
{
    let memory = padded(text)
    for _ in 0..<count where !scanner.validates(memory, text.bytes.count) { fatalError("refused") }
    print(text.bytes.count)
} else {
    print(
        "GB/s. simdjson \(String(cString: simdjson_version())) (\(String(cString: simdjson_kernel()))),"
    )
    print("yyjson \(String(cString: yyjson_version_text())).\n")
    printTable(Text.bodies, Scanner.all)
    print()
    printTable(Text.kinds, Scanner.all)
    print()
    printSplice()
}
