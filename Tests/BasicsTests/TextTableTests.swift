import Basics
import Testing

@Suite struct TextTableTests {
    @Test func makesColumnsAsWideAsTheirLongestText() {
        let table = TextTable([["a", "long", "x"], ["bcd", "s", "yz"]], gaps: [1, 3])
        #expect(table.lines == ["a   long   x", "bcd s      yz"])
    }

    @Test func alignsTextsAndDoesNotCutThem() {
        let rows = [["ab", "1"], ["abcd", "123"], ["", "12345"]]
        #expect(
            TextTable(rows, [.left(3, gap: 1), .right(4, gap: 0)]).lines
                == ["ab     1", "abcd  123", "    12345"])
    }

    @Test func endsLinesWithoutSpaces() {
        #expect(TextTable([["a", "", ""]], gaps: [3, 3]).lines == ["a"])
        #expect(TextTable([], gaps: [1]).lines == [])
    }
}

@Suite struct WaterfallBarsTests {
    private func at(_ milliseconds: Int64) -> Instant {
        Instant(nanoseconds: 5_000_000 + milliseconds * 1_000_000)
    }

    private func bars(_ length: Int64 = 100, columns: Int = 10) -> WaterfallBars {
        WaterfallBars(from: at(0), to: at(length), scale: 10, columns: columns, of: "#")
    }

    @Test(
        arguments: [
            (0, 100, "|##########|"), (20, 50, "|  ###     |"), (0, 0, "|#         |"),
            (49, 51, "|    #     |"), (100, 100, "|         #|"), (-10, 300, "|##########|"),
        ] as [(Int64, Int64, String)])
    func drawsAPartOfThePeriod(_ began: Int64, _ ended: Int64, _ bar: String) {
        #expect(bars().bar(from: at(began), to: at(ended)) == bar)
    }

    @Test func drawsAPartAtTheEndOfThePeriod() {
        #expect(bars(columns: 11).bar(from: at(100), to: at(100)) == "|          #|")
    }

    @Test func marksMoments() {
        let bar = bars().bar(from: at(0), to: at(100), marks: [at(30), at(100)])
        #expect(bar == "|###2#####3|")
        let many = (0..<9).map { at($0 * 10) }
        #expect(bars().bar(from: at(0), to: at(100), marks: many) == "|23456789+#|")
    }

    @Test func drawsEmptyAndHugePeriods() {
        #expect(bars(0).bar(from: at(0), to: at(0)) == "|#         |")
        let start = Instant(nanoseconds: 0)
        let end = Instant(nanoseconds: .max)
        let bars = WaterfallBars(from: start, to: end, scale: 10, columns: 10, of: "#")
        #expect(bars.bar(from: start, to: end) == "|##########|")
    }

    @Test(arguments: [
        (Duration.zero, "0.0ms"), (.microseconds(12_345), "12.3ms"), (.seconds(2), "2000.0ms"),
        (.milliseconds(-3), "0.0ms"),
    ])
    func writesTimesWithOneDecimal(_ time: Duration, _ text: String) {
        #expect(time.millisecondsText == text)
    }
}
