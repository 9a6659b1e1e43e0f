// A map of bad statuses: a row for each tensor that was bad, a column for some
// steps.

import {cssColour, fill, h, sizeCanvas} from './dom.js';
import {count, shortStep} from './format.js';

const ROWS = 12;
const ROW_HEIGHT = 18;
const LEAST_CELL = 5;  // pixels

const badElements = (s) => (s.counts.nan || 0) + (s.counts.pos_inf || 0) +
    (s.counts.neg_inf || 0) + (s.counts.saturated || 0) +
    (s.device_flag ? 1 : 0);

export class OpsMap {
  // `owner`: {show(step)}.
  constructor(owner) {
    this.labels = h('ol', {class: 'op-names'});
    this.canvas = h('canvas', {class: 'cells', role: 'img'});
    this.axis = h('p', {class: 'op-axis'});
    this.readout = h('p', {class: 'readout note'});
    this.cells = h('div', {class: 'op-cells'}, this.canvas, this.axis);
    this.element = h('div', {class: 'op-map', hidden: true}, this.labels,
                     this.cells, this.readout);
    this.canvas.addEventListener('pointermove', (e) => this.hover(e));
    this.canvas.addEventListener('pointerleave', () => this.say(this.about));
    this.canvas.addEventListener('click', (e) => {
      const cell = this.cellAt(e);
      if (cell) owner.show(cell.first);
    });
    this.statuses = [];
    this.observer = new ResizeObserver(() => this.redraw());
    this.observer.observe(this.cells);
  }

  stop() {
    this.observer.disconnect();
  }

  // Of steps `from` .. `to`; `others` says what is not drawn.
  draw(statuses, from, to, others) {
    this.statuses = statuses;
    this.from = from;
    this.to = Math.max(from, to);
    this.element.hidden = statuses.length === 0;
    this.redraw();
    const leftOut = this.all.length - ROWS;
    this.about = [leftOut > 0 && `${count(leftOut)} more were bad.`, others]
                     .filter(Boolean).join(' ');
    this.say(this.about);
  }

  // Below the map; of a cell, while somebody points at it.
  say(text) {
    this.readout.textContent = text;
  }

  redraw() {
    this.all = [];
    const width = this.cells.clientWidth;
    if (!this.statuses.length || !width) return;
    this.count(Math.max(1, Math.floor(width / LEAST_CELL)));
    this.cell = width / this.columns;
    fill(this.labels, this.rows.map((r) => h('li', {
      title: `${r.op} (${r.slot})`,
    }, r.op, h('span', {class: 'note'}, ` ${r.slot.replace('_', ' ')}`))));
    const dots = sizeCanvas(this.canvas, width, this.rows.length * ROW_HEIGHT);
    this.canvas.setAttribute('aria-label', `When each of ${
        this.rows.length} tensors was bad; the table above names them`);
    fill(this.axis, h('span', {}, shortStep(this.from)),
         h('span', {}, shortStep(this.to)));
    this.paint(dots);
  }

  // Bad statuses of each tensor in each column of steps.
  count(columns) {
    const span = this.to - this.from + 1;
    this.columns = Math.min(columns, span);
    const rows = new Map();
    for (const status of this.statuses) {
      const name = `${status.op}\n${status.slot}`;
      const {op, slot, order = Infinity, step} = status;
      if (!rows.has(name)) {
        rows.set(name, {op, slot, order, cells: [], first: step});
      }
      const row = rows.get(name);
      row.first = Math.min(row.first, step);
      const at = Math.floor((step - this.from) * this.columns / span);
      const cell = row.cells[at] = row.cells[at] ||
          {statuses: 0, most: 0, first: step, share: 0};
      const elements = badElements(status);
      ++cell.statuses;
      cell.first = Math.min(cell.first, step);
      cell.most = Math.max(cell.most, elements);
      cell.share = Math.max(cell.share, status.elements > 0 ?
          Math.min(1, elements / status.elements) : 1);
    }
    // As the table: where it began above what it spoilt.
    this.all = [...rows.values()].sort((a, b) => a.first - b.first ||
        (a.order === b.order ? 0 : a.order - b.order));
    this.rows = this.all.slice(0, ROWS);
  }

  paint(dots) {
    const pen = this.canvas.getContext('2d');
    pen.scale(dots, dots);
    const track = cssColour('--cell');
    const worst = cssColour('--critical');
    const gap = this.cell > 8 ? 1 : 0;
    this.rows.forEach((row, i) => {
      const y = i * ROW_HEIGHT + 3;
      const height = ROW_HEIGHT - 6;
      pen.globalAlpha = 1;
      pen.fillStyle = track;
      pen.fillRect(0, y, this.columns * this.cell, height);
      pen.fillStyle = worst;
      row.cells.forEach((cell, column) => {
        // One bad element is seen; a whole tensor of them stands out.
        pen.globalAlpha = 0.55 + 0.45 * cell.share ** 0.3;
        const left = Math.round(column * this.cell);
        const right = Math.round((column + 1) * this.cell);
        pen.fillRect(left, y, Math.max(2, right - left - gap), height);
      });
    });
  }

  cellAt(event) {
    const box = this.canvas.getBoundingClientRect();
    const row = this.rows[Math.floor((event.clientY - box.top) / ROW_HEIGHT)];
    const column = Math.floor((event.clientX - box.left) / this.cell);
    const cell = row && row.cells[column];
    return cell ? {...cell, op: row.op, slot: row.slot} : null;
  }

  hover(event) {
    const cell = this.cellAt(event);
    this.say(cell ? [
      cell.op, cell.slot.replace('_', ' '), `step ${count(cell.first)}` +
          (cell.statuses > 1 ? ' and after' : ''),
      `bad ${count(cell.statuses)} ` +
          (cell.statuses === 1 ? 'time' : 'times') +
          `, at most ${count(cell.most)} elements`,
    ].join(' · ') : this.about);
  }
}
