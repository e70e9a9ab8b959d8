import Testing

@testable import Process

@Suite struct ProgramPagesTests {
    private static func smaps(_ mappings: (head: String, anonymous: Int)...) -> [UInt8] {
        let text = mappings.map { mapping in
            """
            \(mapping.head)
            Size:                504 kB
            Rss:                 504 kB
            Anonymous:          \(mapping.anonymous) kB
            VmFlags: rd mr mw me sd

            """
        }.joined()
        return Array(text.utf8)
    }

    @Test func findsCodeAndConstants() {
        let list = Self.smaps(
            ("00200000-0027e000 r--p 00000000 fe:00 162      /bin/t u", 0),
            ("0027f000-014be000 r-xp 0007e000 fe:00 162      /bin/t u", 0))
        #expect(
            ProgramPages.unwritten(of: "/bin/t u", in: list) == [
                0x200000..<0x27e000, 0x27f000..<0x14be000,
            ])
    }

    /// Relocations, variables, other files, memory without a file, and code with a breakpoint.
    @Test(arguments: [
        ("014be000-01567000 r--p 012bc000 fe:00 162      /bin/t", 676),
        ("0027f000-014be000 r-xp 0007e000 fe:00 162      /bin/t", 4),
        ("01567000-01893000 rw-p 01364000 fe:00 162      /bin/t", 0),
        ("7f40e9885000-7f40e98c6000 r-xp 00000000 fe:00 162      /lib/t", 0),
        ("01893000-01938000 r-xp 00000000 00:00 0", 0),
        ("0027f000-0027f000 r-xp 0007e000 fe:00 162      /bin/t", 0),
    ])
    func leavesEverythingElse(_ head: String, anonymous: Int) {
        #expect(
            ProgramPages.unwritten(of: "/bin/t", in: Self.smaps((head, anonymous))) == [])
    }
}
