import CByteClasses

/// Validates an object or array sixty-four bytes at a time, with few branches.
///
/// The classes of the bytes are masks with one bit for each byte. A few operations on whole masks
/// find the tokens and check their order, however many there are (decision record 9). Loops remain
/// for brackets, literals, escapes, exponents and single UTF-8 sequences.
///
/// The result is only whether the text is valid. `JSONScanner` finds the errors, and scans what is
/// not supported here: scalars, and containers that nest deeper than `BlockContainers.depthMax`.
struct BlockScanner: ~Escapable {
    let scanner: JSONScanner
    let classifier: BlockClassifier

    /// Shorter texts take about as long without blocks.
    static let countMin = 512

    /// Scans a text with the fastest instructions of this processor.
    @inline(never)
    static func wholeText(of text: Span<UInt8>, depthMax: Int) -> Range<Int>? {
        BlockScanner(text, depthMax: depthMax, .fastest).wholeText()
    }

    @_lifetime(copy text)
    init(_ text: Span<UInt8>, depthMax: Int, _ classifier: BlockClassifier) {
        scanner = JSONScanner(text, depthMax: depthMax)
        self.classifier = classifier
    }

    /// The range of the text's value, without the white space around it; nil if the text is not valid
    /// or not supported.
    func wholeText() -> Range<Int>? {
        let start = scanner.text.afterSpace(0)
        guard scanner.text.byte(start) | 0x20 == .openBrace else { return nil }
        let end = BlockMemory.with { containerEnd(start, $0) }
        return end.map { start..<$0 }
    }

    /// The end of the container at `start`, if it is valid and only white space follows it.
    @inline(__always)
    private func containerEnd(_ start: Int, _ blocks: BlockMemory) -> Int? {
        let count = scanner.text.count
        var state = State(depthMax: scanner.depthMax)
        var at = start
        while at < count {
            classifier.classify(scanner.text, at: at, into: blocks)
            for index in 0..<BlockMemory.blockCount where at < count {
                guard let end = scan(blocks[index], at, &state) else { return nil }
                if end != 0 { return isLast(at &+ end) ? at &+ end : nil }
                at &+= 64
                if state.strings.isInside && !state.strings.isEscaped {
                    guard let end = insideEnd(at, checked: state.sequencesEnd) else { return nil }
                    (at, state.sequencesEnd) = end
                    break
                }
            }
        }
        return nil
    }

    /// Whether only white space follows.
    private func isLast(_ end: Int) -> Bool {
        end == scanner.text.count || scanner.text.afterSpace(end) == scanner.text.count
    }

    /// What the scan of a block leaves for the next block.
    private struct State {
        var strings = BlockStrings()
        var containers: BlockContainers
        var order = BlockOrder()
        var scalars = BlockScalars()
        /// The offsets up to which escapes and UTF-8 sequences are checked; they may be in the next
        /// block.
        var escapesEnd = 0
        var sequencesEnd = 0

        init(depthMax: Int) { containers = BlockContainers(depthMax: depthMax) }
    }

    /// Scans one block. The result counts from the start of the block: where the outermost container
    /// ends, or zero if it does not end in this block. Nil if the block is not valid.
    @inline(__always)
    private func scan(_ block: BlockClasses, _ at: Int, _ state: inout State) -> Int? {
        state.strings.find(in: block)
        let strings = state.strings.strings
        let quotes = state.strings.quotes
        let outside = ~strings
        // An escaped quote or backslash is always valid.
        let escapes = state.strings.escaped & strings & ~(block.quotes | block.backslashes)
        if escapes != 0 {
            guard let end = escapesEnd(escapes, at, checked: state.escapesEnd) else { return nil }
            state.escapesEnd = end
        }
        if block.non_ascii != 0 {
            guard let end = sequencesEnd(block.non_ascii, at, checked: state.sequencesEnd) else {
                return nil
            }
            state.sequencesEnd = end
        }
        var spaces = block.spaces & outside
        if block.controls != 0 {
            guard block.controls & strings == 0, areWhite(block.controls, at) else { return nil }
            spaces |= block.controls
        }
        if state.strings.isInside { return 0 }

        let brackets = block.brackets & outside
        guard let end = state.containers.match(brackets, in: scanner.text, at: at) else {
            return nil
        }
        let commas = block.commas & outside
        let colons = block.colons & outside
        let scalars = ~(strings | quotes | spaces | commas | colons | brackets)
        let scalarStarts = state.scalars.starts(of: scalars)
        let tokens = BlockOrder.Tokens(
            quotes: quotes, strings: strings, spaces: spaces, opens: state.containers.opens,
            closes: brackets & ~state.containers.opens, commas: commas, colons: colons,
            scalarStarts: scalarStarts, objects: state.containers.objects)
        guard state.order.accepts(tokens),
            state.scalars.accepts(block, scalars, starts: scalarStarts, scanner, at: at)
        else { return nil }
        return end
    }

    /// The offset up to which escapes are checked after the escapes of these bytes, from the offset
    /// up to which they were checked before. Nil if one is not valid.
    @inline(never)
    private func escapesEnd(_ escaped: UInt64, _ at: Int, checked end: Int) -> Int? {
        var end = end
        var rest = escaped
        while rest != 0 {
            let backslash = at &+ rest.trailingZeroBitCount &- 1
            rest &= rest &- 1
            // The second half of a surrogate pair.
            if backslash < end { continue }
            do throws(JSONError) {
                end = try scanner.escape(backslash)
            } catch {
                return nil
            }
        }
        return end
    }

    /// Whether these control bytes are white space.
    @inline(never)
    private func areWhite(_ controls: UInt64, _ at: Int) -> Bool {
        var rest = controls
        while rest != 0 {
            switch scanner.text.byte(at &+ rest.trailingZeroBitCount) {
            case 0x09, 0x0A, 0x0D: rest &= rest &- 1
            default: return false
            }
        }
        return true
    }
}
