/// Why a text is not a document, with a message for the operator.
package struct DocumentProblem: Error, Sendable, Equatable {
    package let location: SourceLocation
    package let text: String

    package init(location: SourceLocation, text: String) {
        self.location = location
        self.text = text
    }
}
