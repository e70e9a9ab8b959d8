import ArgumentParser
import Glibc
import Process
import System

/// The end of the program when a part of it fails.
enum ProgramEnd {
    /// Runs a part of the program; prints an error as one line and exits with its status.
    ///
    /// - Parameter command: its usage explains an error of the command line
    static func run(_ command: any ParsableCommand.Type, _ body: () throws -> Void) {
        do {
            try body()
        } catch let code as ExitCode {
            command.exit(withError: code)
        } catch let failure as StartFailure {
            end(because: failure)
        } catch let failure as ServiceFailure {
            end(because: .service(failure))
        } catch let error
            where [.success, .validationFailure].contains(command.exitCode(for: error))
        {
            // A request for help, or a usage error.
            command.exit(withError: error)
        } catch {
            end(because: .internalError("\(error)"))
        }
    }

    private static func end(because failure: StartFailure) -> Never {
        StandardStreams.printLastError("tributary: \(failure.line)\n")
        exit(failure.status)
    }
}
