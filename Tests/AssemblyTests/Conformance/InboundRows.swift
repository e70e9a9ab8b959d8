/// Everything that a client may send, by kind. The rules behind the outcomes, with their clauses,
/// are the table of `docs/HTTP-Rules.md`.
enum InboundRows {
    static let all: [WireRow] =
        requestLines + methods + targets + hosts + fields + lengths + codings + chunks
        + connections + otherProtocols
}
