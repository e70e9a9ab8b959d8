/// Why a text is not a document, in words for the operator.
package struct DocumentProblem: Error, Sendable, Equatable {
    package let place: Place
    package let text: String

    package init(place: Place, text: String) {
        self.place = place
        self.text = text
    }
}
