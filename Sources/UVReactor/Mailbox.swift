/// A letter box for one object that lives on a loop: other threads write to it and never touch it.
///
/// The object stays alive until its loop ends.
package struct Mailbox<Resident: AnyObject>: Sendable {
    private let port: Port
    private let number: Int

    fileprivate init(port: Port, number: Int) {
        self.port = port
        self.number = number
    }

    /// Has the object read `letter` on its own thread, soon; false if its loop has ended.
    @discardableResult
    package func post(_ letter: @escaping @Sendable (Resident) -> Void) -> Bool {
        port.post { [number] loop in
            guard let resident = loop.residents[number] as? Resident else { return }
            letter(resident)
        }
    }
}

extension UVLoop {
    /// Gives `resident` a letter box.
    package func mailbox<Resident: AnyObject>(for resident: Resident) -> Mailbox<Resident> {
        residents.append(resident)
        return Mailbox(port: port, number: residents.count - 1)
    }
}
