import Glibc

/// The memory of the program's file in this process.
enum ProgramPages {
    /// Takes code and constants out of the resident memory of this process. The kernel maps the pages
    /// that are used again, from the file in its cache, in a few microseconds each.
    ///
    /// Without effect where the system does not list the mappings of a process.
    static func release() {
        guard let program = path, let list = try? RegularFile.read(mappings, upTo: 1 << 20) else {
            return
        }
        for range in unwritten(of: program, in: String(decoding: list, as: UTF8.self)) {
            if let start = UnsafeMutableRawPointer(bitPattern: range.lowerBound) {
                madvise(start, range.count, MADV_DONTNEED)
            }
        }
    }

    private static let mappings = "/proc/self/smaps"

    private static var path: String? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &bytes, bytes.count)
        guard count > 0 else { return nil }
        return String(decoding: bytes[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The mappings of a file that have no page which differs from the file: relocated constants,
    /// breakpoints and code without a file would be lost.
    ///
    /// - Parameter list: the text of `/proc/self/smaps` (proc_pid_smaps(5))
    static func unwritten(of file: String, in list: String) -> [Range<UInt>] {
        var ranges: [Range<UInt>] = []
        var current: Range<UInt>?
        for line in list.split(separator: "\n") {
            if let mapping = mapping(line) {
                let isReadOnly = mapping.access.hasSuffix("p") && !mapping.access.contains("w")
                current = isReadOnly && mapping.file == file ? mapping.range : nil
            } else if let range = current, line.hasPrefix("Anonymous:") {
                if line.split(separator: " ") == ["Anonymous:", "0", "kB"] { ranges.append(range) }
                current = nil
            }
        }
        return ranges
    }

    /// `00200000-0027e000 r--p 00000000 fe:00 162 /usr/bin/tributary`
    private static func mapping(
        _ line: Substring
    ) -> (range: Range<UInt>, access: Substring, file: Substring)? {
        let words = line.split(separator: " ", maxSplits: 5)
        let bounds = words.first?.split(separator: "-").compactMap { UInt($0, radix: 16) } ?? []
        guard words.count == 6, bounds.count == 2, bounds[0] < bounds[1] else { return nil }
        return (bounds[0]..<bounds[1], words[1], words[5].drop { $0 == " " })
    }
}
