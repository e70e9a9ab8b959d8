/// The texts that are validated.
struct Text: Sendable {
    let name: String
    let bytes: [UInt8]

    private init(_ name: String, _ text: String) {
        self.name = name
        bytes = Array(text.utf8)
    }

    /// Responses of a backend: records with short strings, numbers, escapes and some UTF-8.
    static let bodies = [
        Text("200 B", body(itemCount: 0)), Text("2 KB", body(itemCount: 13)),
        Text("20 KB", body(itemCount: 133)), Text("1 MB", body(itemCount: 6700)),
    ]

    /// 20 KB of one kind.
    static let kinds = [
        Text("indented", indented(itemCount: 100)),
        Text("English prose", prose("the quick brown fox jumps over the lazy dog and back ", 40)),
        Text("Russian prose", prose("быстрая лиса прыгает через ленивую собаку ", 30)),
        Text("Chinese prose", prose("敏捷的棕色狐狸跳过了懒狗", 30)),
        Text("coordinates", coordinates(count: 550)),
        Text("integers", "[" + (0..<3500).map { String($0 * $0) }.joined(separator: ",") + "]"),
        Text(
            "escapes",
            "[" + Array(repeating: #""\n\t\"\\ a\u0001""#, count: 1000).joined(separator: ",") + "]"
        ),
        Text(
            "brackets",
            "[" + Array(repeating: "[[],{},[[]]]", count: 1600).joined(separator: ",") + "]"),
    ]

    private static func body(itemCount: Int) -> String {
        let items = (0..<itemCount).map(item).joined(separator: ",")
        return #"{"id":1001,"name":"Service 1","price":19.99,"active":true,"tags":["a","b","c"],"#
            + #""owner":{"id":7,"mail":"ops@example.org"},"note":"line\nbreak €","#
            + #""address":{"street":"Main Street 12","city":"Graz"}"#
            + (itemCount == 0 ? "" : #","items":["# + items + "]") + "}"
    }

    private static func item(_ index: Int) -> String {
        #"{"id":\#(1000 + index),"sku":"SKU-1-\#(index)","title":"café \"item\" 1 / \#(index)","#
            + #""price":\#(19 + index).\#(index % 90 + 10),"stock":\#(index * 7 % 50),"#
            + #""tags":["new","b1",null],"on":\#(index % 2 == 0),"dim":{"w":10.5,"h":2000.0}}"#
    }

    private static func indented(itemCount: Int) -> String {
        let items = (0..<itemCount).map {
            """
                {
                    "id": \($0),
                    "sku": "SKU-1-\($0)",
                    "title": "café \\"item\\" 1 / \($0)",
                    "price": \($0).25,
                    "tags": [
                        "new",
                        null
                    ],
                    "on": true
                }
            """
        }
        return "[\n" + items.joined(separator: ",\n") + "\n]\n"
    }

    private static func prose(_ sentence: String, _ count: Int) -> String {
        let paragraph = String(repeating: sentence, count: count / 2)
        let total = 20_000 / paragraph.utf8.count
        return "["
            + (0..<total).map { #"{"id":\#($0),"text":"\#(paragraph)"}"# }.joined(separator: ",")
            + "]"
    }

    private static func coordinates(count: Int) -> String {
        let pairs = (0..<count).map {
            "[-\(120 + $0 % 50).\(422_783 + $0 * 7919),\(37 + $0 % 9).\(808_611 + $0 * 104_729)]"
        }
        return "[" + pairs.joined(separator: ",") + "]"
    }
}
