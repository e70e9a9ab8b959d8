import CByteClasses

/// Checks the numbers and literals of consecutive blocks.
struct BlockScalars {
    private var scalarCarry: UInt64 = 0
    private var minusCarry: UInt64 = 0
    private var zeroCarry: UInt64 = 0
    private var integerCarry: UInt64 = 0
    private var pointCarry: UInt64 = 0
    private var fractionCarry: UInt64 = 0

    /// The first bytes of the runs of bytes that belong to scalars.
    @inline(__always)
    mutating func starts(of scalars: UInt64) -> UInt64 {
        scalars & ~scalars.moved(&scalarCarry)
    }

    /// Whether the scalars of the next block are valid. Those that continue in another block are
    /// checked in both, or whole in the first.
    @inline(__always)
    mutating func accepts(
        _ block: BlockClasses, _ scalars: UInt64, starts: UInt64, _ scanner: borrowing JSONScanner,
        at offset: Int
    ) -> Bool {
        var minuses: UInt64 = 0
        var others = starts & ~block.digits
        while others != 0 {
            let start = offset &+ others.trailingZeroBitCount
            if scanner.text.byte(start) == .minus {
                minuses |= others.lowestBit
            } else {
                guard scanner.isLiteral(start) else { return false }
            }
            others &= others &- 1
        }

        let afterMinus = minuses.moved(&minusCarry)
        let integers = (starts | afterMinus) & block.digits
        let afterZero = (integers & block.zeros).moved(&zeroCarry)
        let integerEnds = block.digits.afterRuns(from: integers, &integerCarry)
        let points = integerEnds & block.dots
        let fractions = points.moved(&pointCarry)
        let fractionEnds = block.digits.afterRuns(from: fractions & block.digits, &fractionCarry)
        let missingDigits = (afterMinus | fractions) & ~block.digits
        let leadingZeros = afterZero & block.digits
        guard missingDigits | leadingZeros == 0 else { return false }
        // What follows the digits of a number and is no end of it.
        let exponents = (integerEnds & ~points | fractionEnds) & scalars
        return exponents == 0 || areExponents(exponents, scanner, at: offset)
    }

    @inline(never)
    private func areExponents(
        _ exponents: UInt64, _ scanner: borrowing JSONScanner, at offset: Int
    ) -> Bool {
        var rest = exponents
        while rest != 0 {
            guard scanner.isExponent(offset &+ rest.trailingZeroBitCount) else { return false }
            rest &= rest &- 1
        }
        return true
    }
}

extension JSONScanner {
    @inline(__always)
    fileprivate func isLiteral(_ start: Int) -> Bool {
        do throws(JSONError) {
            return endsScalar(try literal(start))
        } catch {
            return false
        }
    }

    fileprivate func isExponent(_ start: Int) -> Bool {
        guard text.byte(start) | 0x20 == UInt8(ascii: "e") else { return false }
        do throws(JSONError) {
            return endsScalar(try exponent(start &+ 1))
        } catch {
            return false
        }
    }

    /// Whether a scalar can end before this byte.
    @inline(__always)
    private func endsScalar(_ end: Int) -> Bool {
        let byte = text.byte(end)
        return byte == .comma || byte | 0x20 == .closeBrace || byte <= .space
    }
}
