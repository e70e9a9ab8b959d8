import CByteClasses

/// Checking the UTF-8 sequences of a block.
///
/// The functions take the offset up to which sequences are checked already, and return the offset up
/// to which they are checked now; both may be inside a block. Nil if a sequence is malformed.
extension BlockScanner {
    @inline(__always)
    func sequencesEnd(_ nonASCII: UInt64, _ at: Int, checked: Int) -> Int? {
        // Masks are faster for adjacent sequences, a loop for single ones, as in most languages with
        // Latin letters.
        guard nonASCII & (nonASCII &>> 3) == 0 else {
            return manySequencesEnd(at, checked: checked)
        }
        var end = checked
        var rest = nonASCII
        while rest != 0 {
            let start = at &+ rest.trailingZeroBitCount
            rest &= rest &- 1
            if start < end { continue }
            guard let next = sequenceEnd(start) else { return nil }
            end = next
        }
        return end
    }

    @inline(never)
    private func manySequencesEnd(_ at: Int, checked end: Int) -> Int? {
        sequencesEnd(classifier.utf8Classes(scanner.text, at: at).0, at, checked: end)
    }

    @inline(__always)
    private func sequencesEnd(_ block: tributary_utf8, _ at: Int, checked end: Int) -> Int? {
        let rest = block.from_80 & ~UInt64.first(max(0, end &- at))
        let unfinished = block.unfinished & rest
        let whole = rest & (unfinished &- 1)
        guard block.areSequences(whole), areSequences(block.special & whole, at) else { return nil }
        return unfinished == 0 ? end : sequenceEnd(at &+ unfinished.trailingZeroBitCount)
    }

    /// Whether well-formed sequences begin with these bytes.
    @inline(__always)
    private func areSequences(_ leads: UInt64, _ at: Int) -> Bool {
        var rest = leads
        while rest != 0 {
            guard sequenceEnd(at &+ rest.trailingZeroBitCount) != nil else { return false }
            rest &= rest &- 1
        }
        return true
    }

    /// The end of the blocks from `at` that are parts of the inside of a string, and the offset up to
    /// which UTF-8 sequences are checked. Nil if a sequence is malformed.
    @inline(never)
    func insideEnd(_ start: Int, checked: Int) -> (at: Int, checked: Int)? {
        var at = start
        var checked = checked
        while true {
            at &+= classifier.plainCount(scanner.text, from: at)
            guard at &+ 64 <= scanner.text.count else { return (at, checked) }
            let (block, isInside) = classifier.utf8Classes(scanner.text, at: at)
            guard isInside else { return (at, checked) }
            guard let next = sequencesEnd(block, at, checked: checked) else { return nil }
            checked = next
            at &+= 64
        }
    }

    @inline(__always)
    private func sequenceEnd(_ start: Int) -> Int? {
        do throws(JSONError) {
            return try scanner.utf8Sequence(start)
        } catch {
            return nil
        }
    }
}

extension tributary_utf8 {
    /// The first byte of a sequence that continues in the next block; zero if none does.
    @inline(__always)
    fileprivate var unfinished: UInt64 {
        let last: UInt64 = 1 &<< 63
        return from_c0 & last | from_e0 & (last &>> 1) | from_f0 & (last &>> 2)
    }

    /// Whether these bytes are whole sequences, apart from the rules for special first bytes.
    @inline(__always)
    fileprivate func areSequences(_ bytes: UInt64) -> Bool {
        let leads = from_c0 & bytes
        let continuations = leads &<< 1 | (from_e0 & bytes) &<< 2 | (from_f0 & bytes) &<< 3
        let misplaced = continuations ^ (bytes & ~leads)
        let overlong = (e0 & bytes) &<< 1 & ~from_a0
        return misplaced | overlong == 0
    }
}
