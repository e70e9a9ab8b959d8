/// A client's request: its head, and its body, which may still be arriving.
package struct Request {
    package var head: RequestHead
    package var body: Body

    package init(head: RequestHead, body: Body) {
        self.head = head
        self.body = body
    }
}
