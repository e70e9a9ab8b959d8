import Basics
import Foundation

/// The program of `script/fuzz`, with libFuzzer linked in: runs one target.
///
///     fuzz TARGET [libFuzzer's options] [folders with inputs]
///     fuzz verdicts request|json  for Tests/Verify/differential.py
@main enum Fuzz {
    nonisolated(unsafe) private static var target = FuzzTarget.request

    static func main() {
        var arguments = CommandLine.arguments
        if arguments.count == 3, arguments[1] == "verdicts" {
            exit(Verdicts.printAll(for: arguments[2]) ? 0 : 64)
        }
        guard arguments.count > 1, let chosen = FuzzTarget.named(arguments[1]) else {
            print("usage: fuzz \(FuzzTarget.all.map(\.name).joined(separator: "|")) [options]")
            exit(64)
        }
        target = chosen
        arguments.remove(at: 1)
        var count = CInt(arguments.count)
        // libFuzzer keeps the arguments until the process ends.
        let list = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(
            capacity: arguments.count + 1)
        for (index, argument) in arguments.enumerated() { list[index] = strdup(argument) }
        list[arguments.count] = nil
        var vector: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = list
        exit(runFuzzer(&count, &vector, { Fuzz.checkInput($0, $1) }))
    }

    private static func checkInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
        let input = Array(UnsafeBufferPointer(start: start, count: count))
        if let violation = target.violation(input) { fatalError(violation) }
        return 0
    }
}

@_silgen_name("LLVMFuzzerRunDriver")
private func runFuzzer(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>,
    _ run: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt
