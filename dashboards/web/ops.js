// Ops: the worst in a table, and where in the run each was bad, as a map of op
// by step.

import {getJson} from './api.js';
import {cssColour, fill, h, sizeCanvas} from './dom.js';
import {count, value} from './format.js';

const STATUSES = 4000;
const SHOWN = 10;  // rows of the table
const MOST = 50;   // that the daemon lists
const ROWS = 24;
const ROW_HEIGHT = 18;
const LEAST_CELL = 5;  // pixels
const AROUND = 60;     // steps

const bad = (s) => (s.counts.nan || 0) + (s.counts.pos_inf || 0) +
    (s.counts.neg_inf || 0) + (s.counts.saturated || 0) +
    (s.device_flag ? 1 : 0);

export class Ops {
  constructor(owner) {
    this.owner = owner;
    this.limit = SHOWN;
    this.table = h('div', {class: 'scroll'});
    this.labels = h('ol', {class: 'op-names'});
    this.canvas = h('canvas', {class: 'cells', role: 'img'});
    this.readout = h('p', {class: 'readout note'}, '\u00a0');
    this.about = h('p', {class: 'note'});
    this.map = h('div', {class: 'op-map', hidden: true}, this.labels,
                 h('div', {class: 'op-cells'}, this.canvas));
    this.head = h('h2', {}, 'Ops');
    this.element = h('section', {id: 'ops', tabindex: -1, hidden: true},
        this.head, this.table, this.map, this.readout, this.about);
    this.canvas.addEventListener('pointermove', (e) => this.hover(e));
    this.canvas.addEventListener('click', (e) => {
      const cell = this.cellAt(e);
      if (cell) owner.show(cell.first);
    });
    this.seen = new IntersectionObserver((entries) => {
      if (entries.some((e) => e.isIntersecting)) this.load();
    }, {rootMargin: '200px'});
    this.seen.observe(this.element);
    this.observer = new ResizeObserver(() => this.statuses && this.drawMap());
    this.observer.observe(this.element);
  }

  stop() {
    this.seen.disconnect();
    this.observer.disconnect();
  }

  draw(run) {
    this.run = run;
    const known = run.ops || [];
    const told = run.totals ? run.totals.op_statuses : 0;
    this.element.hidden = known.length === 0 && !told;
    fill(this.head, 'Ops ', h('span', {class: 'note'},
        known.length ? (known.length < MOST ? '' : 'at least ') +
                       `${count(known.length)} were bad` :
                       'none was bad', `, ${count(told)} statuses`));
    this.drawTable(known);
  }

  // As they come: where it began above what it spoilt.
  drawTable(known) {
    const columns = this.columnsOf(known);
    fill(this.table, known.length > 0 && h('table', {},
        h('thead', {}, h('tr', {}, columns.map(([name, , kind]) =>
            h('th', {scope: 'col', class: kind}, name)))),
        h('tbody', {}, known.slice(0, this.limit).map((op) => h('tr', {},
            columns.map(([, cell, kind]) => h('td', {class: kind},
                                              cell(op))))))),
        known.length > this.limit && h('button', {
          class: 'more', 'data-key': 'more ops', onclick: () => {
            this.limit = MOST;
            this.drawTable(known);
          },
        }, `${count(known.length - this.limit)} more`));
  }

  columnsOf(known) {
    const step = (op, s) => h('button', {
      class: 'link', 'data-key': `op ${op.name} ${op.slot} ${s}`,
      onclick: () => this.owner.show(s)}, count(s));
    return [
      ['Op', (op) => [op.name, ' ', !op.name.endsWith(op.type) &&
                      h('span', {class: 'note'}, op.type)], 'name'],
      ['Tensor', (op) => op.slot.replace('_', ' ')],
      ['Bad', (op) => `${count(op.bad_statuses)} ` +
          (op.bad_statuses === 1 ? 'time' : 'times'), 'number'],
      ['First', (op) => step(op, op.first_bad_step), 'number'],
      ['Last', (op) => step(op, op.last_bad_step), 'number'],
      ['Bad elements', (op) => [count(op.bad_elements),
          op.padding_elements > 0 && h('span', {class: 'note'},
              ` (${count(op.padding_elements)} padding)`)], 'number'],
      known.some((op) => 'abs_max' in op) &&
          ['Largest', (op) => ('abs_max' in op ? value(op.abs_max) : ''),
           'number'],
      this.run.world_size > 1 &&
          ['Rank', (op) => (op.rank < 0 ? '' : String(op.rank)), 'number'],
    ].filter(Boolean);
  }

  reload() {
    this.statuses = null;
    this.load();
  }

  async load() {
    if (this.loading || this.statuses || !this.owner.run ||
        this.element.hidden) {
      return;
    }
    this.loading = true;
    try {
      const [from, to] = this.range();
      const reply = await getJson(`${this.owner.path()}/ops?points=${
          STATUSES}&rank=${this.owner.rank}` +
          (from === null ? '' : `&from=${from}&to=${to}`));
      this.statuses = reply.statuses;
      this.drawMap();
    } catch (e) {
      this.about.textContent = `${e.message} ${e.todo || ''}`;
    } finally {
      this.loading = false;
    }
  }

  // What the charts show; else where the worst op began to be bad.
  range() {
    const {window} = this.owner.charts;
    if (window) return window.map(Math.round);
    const [worst] = this.run.ops || [];
    if (!worst) return [null, null];
    return [worst.first_bad_step - AROUND, worst.first_bad_step + AROUND];
  }

  // Statuses of each op in each column of steps.
  count(columns) {
    const steps = this.statuses.map((s) => s.step);
    this.first = steps.reduce((a, b) => Math.min(a, b));
    this.last = steps.reduce((a, b) => Math.max(a, b));
    const span = this.last - this.first + 1;
    this.columns = Math.min(columns, span);
    const rows = new Map();
    for (const status of this.statuses) {
      const name = `${status.op}\n${status.slot}`;
      if (!rows.has(name)) {
        rows.set(name, {op: status.op, slot: status.slot, bad: 0, cells: [],
                        firstBad: Number.MAX_SAFE_INTEGER, order: status.order === undefined ? 1e9 :
                                                            status.order});
      }
      const row = rows.get(name);
      const at = Math.floor((status.step - this.first) * this.columns / span);
      const cell = row.cells[at] = row.cells[at] ||
          {statuses: 0, bad: 0, most: 0, first: status.step, share: 0};
      ++cell.statuses;
      cell.first = Math.min(cell.first, status.step);
      const elements = bad(status);
      if (elements > 0) {
        ++cell.bad;
        ++row.bad;
        row.firstBad = Math.min(row.firstBad, status.step);
        cell.most = Math.max(cell.most, elements);
        cell.share = Math.max(cell.share, status.elements > 0 ?
            Math.min(1, elements / status.elements) : 1);
      }
    }
    // As the table: what was bad first above what it spoilt.
    const all = [...rows.values()].sort((a, b) =>
        (a.firstBad - b.firstBad) || a.order - b.order);
    this.hidden = Math.max(0, all.length - ROWS);
    this.rows = all.slice(0, ROWS);
  }

  drawMap() {
    this.map.hidden = !this.statuses.length;
    if (!this.statuses.length) {
      this.about.textContent = `Rank ${this.owner.rank} sent no statuses ` +
          'of ops that are kept.';
      return;
    }
    const box = this.canvas.parentElement;
    const width = box.clientWidth;
    this.count(Math.max(1, Math.floor(width / LEAST_CELL)));
    this.cell = width / this.columns;
    fill(this.labels, this.rows.map((r) => h('li', {
      title: `${r.op} (${r.slot})`, class: r.bad ? 'bad' : null,
    }, r.op, h('span', {class: 'note'}, ` ${r.slot.replace('_', ' ')}`))));
    const height = this.rows.length * ROW_HEIGHT;
    const dots = sizeCanvas(this.canvas, width, height);
    this.canvas.setAttribute('aria-label',
                             'Ops by step; the table above names the bad ones');
    this.paint(dots);
    this.about.textContent = `Rank ${this.owner.rank}, steps ` +
        `${count(this.first)} to ${count(this.last)}` +
        (this.statuses.length === STATUSES ?
            `: the newest ${count(STATUSES)} statuses` : '') +
        (this.hidden ? `; ${count(this.hidden)} more tensors are not drawn` :
                       '') + '. Coloured where elements were bad.';
  }

  paint(dots) {
    const pen = this.canvas.getContext('2d');
    pen.scale(dots, dots);
    const good = cssColour('--cell');
    const worst = cssColour('--critical');
    const gap = this.cell > 4 ? 1 : 0;
    this.rows.forEach((row, i) => {
      row.cells.forEach((cell, column) => {
        const x = column * this.cell;
        const y = i * ROW_HEIGHT + 2;
        pen.globalAlpha = 1;
        pen.fillStyle = good;
        pen.fillRect(x, y, this.cell - gap, ROW_HEIGHT - 4);
        if (!cell.bad) return;
        // One bad element is seen; a whole tensor of them stands out.
        pen.globalAlpha = 0.45 + 0.55 * cell.share ** 0.3;
        pen.fillStyle = worst;
        pen.fillRect(x, y, Math.max(2, this.cell - gap), ROW_HEIGHT - 4);
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
    this.readout.textContent = cell ? [
      cell.op, cell.slot.replace('_', ' '), `step ${count(cell.first)}` +
          (cell.statuses > 1 ? ' and after' : ''),
      cell.bad ? `bad in ${count(cell.bad)} of ${count(cell.statuses)}, ` +
          `at most ${count(cell.most)} elements` : 'clean',
    ].join(' · ') : '\u00a0';
  }
}
