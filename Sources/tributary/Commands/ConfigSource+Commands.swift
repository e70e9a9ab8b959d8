import ArgumentParser
import Assembly
import Gateway
import Glibc
import Process
import System
import TLS

/// The configuration as the commands read it.
extension ConfigSource {
    /// Made from the argument of a command: `-` is standard input, which is read here, once.
    init(argument: String) throws(StartFailure) {
        guard argument == "-" else {
            self.init(path: argument)
            return
        }
        let name = "<stdin>"
        do throws(ConfigFileError) {
            let text = try WholeInput.read(STDIN_FILENO, upTo: ConfigFiles.bytesMax)
            self.init(path: name, text: text)
        } catch {
            throw .unreadableFile(name, error.message)
        }
    }

    /// The configuration and its plan: prints the problems; an error ends the command.
    func checked() throws -> (source: RecordedConfig, config: Config, plan: Plan) {
        let (source, config, plan, problems) = try record()
        StandardStreams.printError(problems.lines.map { $0 + "\n" }.joined())
        guard let config, let plan else { throw ExitStatus.configurationErrors }
        return (source, config, plan)
    }

    /// The bytes of the file, for `import`.
    func bytes() throws -> [UInt8] {
        do throws(ConfigFileError) {
            return try files.read(path)
        } catch {
            guard error == .notFound else { throw StartFailure.unreadableFile(path, error.message) }
            throw StartFailure.noSuchFile(path)
        }
    }

    /// The same as `checked` for commands that need only the configuration and one plan, without the
    /// recording.
    func loaded() throws -> (config: Config, plan: Plan) {
        let contexts = TLSContexts()
        let (config, problems) = ConfigLoader.load(
            path, files: files, environment: variable, contexts: contexts,
            unixTime: WallClock.unixTime / 1_000_000_000)
        StandardStreams.printError(problems.lines.map { $0 + "\n" }.joined())
        guard let config else {
            let recording = ConfigRecording(files: files) { _ in nil }
            _ = try? recording.files.read(path)
            if recording.isMissing(path) { throw StartFailure.noSuchFile(path) }
            throw ExitStatus.configurationErrors
        }
        return (config, try Planner.plan(config, processors: 1, contexts: contexts))
    }
}
