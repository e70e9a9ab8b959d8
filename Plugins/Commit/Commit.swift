import Foundation
import PackagePlugin

/// Writes the commit that `tributary version` prints into a source file, before each build.
@main struct Commit: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) -> [Command] {
        let folder = context.pluginWorkDirectoryURL.appending(path: "Commit")
        let package = context.package.directoryURL
        // What plugins return is kept while the target does not change; a prebuild command runs each time.
        return [
            .prebuildCommand(
                displayName: "Reading the commit", executable: URL(filePath: "/bin/sh"),
                arguments: [
                    package.appending(path: "script/lib/write-commit").path, package.path,
                    folder.path,
                ],
                environment: ProcessInfo.processInfo.environment, outputFilesDirectory: folder)
        ]
    }
}
