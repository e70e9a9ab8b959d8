import YAMLReader

/// Makes a configuration of ours out of a KrakenD configuration of version 3.
///
/// What KrakenD can do and we cannot, or do otherwise, is told with its place and the reason; nothing
/// is left out in silence. What comes out passes `check`.
package struct KrakenDImport {
    /// The configuration as YAML; nil if the file cannot be read.
    package private(set) var text: String?

    /// What to look at; errors only where the file cannot be read.
    package private(set) var problems = Problems()

    /// - Parameter file: what places call the file
    package init(_ bytes: [UInt8], file: String) {
        do throws(DocumentProblem) {
            convert(try JSONConfigSource.read(bytes, file: file))
        } catch {
            problems.error(at: error.place, error.text)
        }
    }

    private mutating func convert(_ root: DocumentNode) {
        guard case .mapping = root.content else {
            return problems.error(at: root.place, "this is no configuration of KrakenD")
        }
        guard root["version"]?.integer == 3 else {
            return problems.error(
                at: root["version"]?.place ?? root.place,
                "only version 3 of KrakenD's configurations can be read")
        }
        var service = KrakenDService(root, problems)
        let tree = service.converted()
        problems = service.problems
        let title = root["name"]?.text.map { " of \($0)" } ?? ""
        text =
            (["# Imported from the KrakenD configuration\(title)."] + tree.lines)
            .map { $0 + "\n" }.joined()
    }
}
