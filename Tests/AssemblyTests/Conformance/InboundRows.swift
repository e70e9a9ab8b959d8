/// What clients may send, by kind. The rules and clauses behind the outcomes are in
/// `docs/contribute/http-rules.csv`.
enum InboundRows {
    static let all: [WireRow] =
        requestLines + methods + targets + hosts + fields + lengths + codings + chunks
        + connections + otherProtocols
}
