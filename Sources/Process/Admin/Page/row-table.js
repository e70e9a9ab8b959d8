// Tables whose rows stay where they are.

/** Keeps one row for each item. While a row has the focus, rows are neither added nor moved nor removed. */
class RowTable {
  constructor(id, make, update, open) {
    this.body = byId(id);
    this.empty = byId(`${id}-empty`);
    this.rows = new Map();
    Object.assign(this, { make, update, open });
    this.heads = [...this.body.parentNode.tHead.rows[0].cells].map((cell) => cell.textContent);
    this.body.addEventListener("click", (event) => this.clicked(event));
    this.body.addEventListener("focusin", (event) => this.select(event.target.closest("tr")));
  }

  get isHeld() { return this.body.contains(document.activeElement); }

  show(items, emptyText) {
    const isHeld = this.isHeld;
    const wanted = new Set(items.map((item) => item.key));
    for (const item of items) {
      let row = this.rows.get(item.key);
      if (!row) {
        if (isHeld) continue;
        row = this.add(item);
      }
      row.item = item;
      this.update(row, item);
    }
    if (!isHeld) {
      this.removeExcept(wanted);
      this.order(items);
    }
    this.empty.hidden = this.rows.size > 0;
    setText(this.empty, emptyText);
    this.ensureTabStop();
  }

  add(item) {
    const row = this.make(item);
    row.node.tabIndex = -1;
    setAttribute(row.node, "role", "row");
    [...row.node.cells].forEach((cell, index) => {
      setAttribute(cell, "role", "gridcell");
      setAttribute(cell, "data-label", this.heads[index]);
    });
    row.node.rowKey = item.key;
    this.rows.set(item.key, row);
    this.body.append(row.node);
    return row;
  }

  removeExcept(wanted) {
    for (const [key, row] of this.rows) {
      if (wanted.has(key)) continue;
      row.node.remove();
      this.rows.delete(key);
    }
  }

  order(items) {
    let next = this.body.firstElementChild;
    for (const item of items) {
      const node = this.rows.get(item.key).node;
      if (node === next) next = next.nextElementSibling;
      else this.body.insertBefore(node, next);
    }
  }

  ensureTabStop() {
    if (this.body.querySelector('tr[tabindex="0"]')) return;
    const first = this.body.firstElementChild;
    if (first) first.tabIndex = 0;
  }

  select(node) {
    if (!node) return;
    for (const row of this.rows.values()) row.node.tabIndex = row.node === node ? 0 : -1;
  }

  clicked(event) {
    const node = event.target.closest("tr");
    if (!node) return;
    node.focus();
    this.openRow(node);
  }

  openRow(node) {
    const row = this.rows.get(node.rowKey);
    if (row) this.open(row.item);
  }

  /** Moves the focus by so many rows; from outside to the selected one. */
  move(step) {
    const nodes = [...this.body.children];
    if (nodes.length === 0) return;
    const at = nodes.indexOf(document.activeElement);
    const next = at < 0
      ? this.body.querySelector('tr[tabindex="0"]') ?? nodes[0]
      : nodes[Math.max(0, Math.min(nodes.length - 1, at + step))];
    next.focus();
  }
}

/** A row whose cells have names; `number` cells are right-aligned. */
function makeRow(names, numbers) {
  const cells = {};
  const node = element("tr");
  for (const name of names) {
    cells[name] = element("td", numbers.includes(name) ? { class: "number" } : { class: name });
    node.append(cells[name]);
  }
  return { node, cells };
}
