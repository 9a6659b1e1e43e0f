// Ranks beside each other: a cell each, then a table.

import {getJson} from './api.js';
import {cssColour, fill, h, mark, sizeCanvas} from './dom.js';
import {ago, count, fullTime, number, podText, scale, value} from
    './format.js';

const SHOWN = 24;   // rows
const MOST = 8192;  // ranks asked for
const RANK = {none: 0, info: 1, warning: 2, critical: 3};

const last = (field) => (r) => number((r.values[field] || {}).last);

// What a cell shows: 0 .. 1 of how far from the others, or bad.
const METRICS = [
  {name: 'health', title: 'Health'},
  {name: 'step', title: 'Step', of: (r) => r.last_step, format: count},
  {name: 'loss', title: 'Loss', of: last('loss'), format: value},
  {name: 'loss_scale', title: 'Loss scale', of: last('loss_scale'),
   format: scale, log: true},
  {name: 'grad_norm', title: 'Gradient norm', of: last('grad_norm'),
   format: value, log: true},
  {name: 'overflows', title: 'Not finite', scaled: 'Overflows', of: (r) =>
      (r.totals.overflows === undefined ? null : r.totals.overflows),
   format: count},
];

function worstFirst(a, b) {
  return RANK[b.severity] - RANK[a.severity] ||
      (b.state === 'lost') - (a.state === 'lost') || a.rank - b.rank;
}

// Distance from the median in the spread of the middle half, at most 1.
function distances(ranks, metric) {
  const given = ranks.map(metric.of);
  const moved = given.map((v) => (v === null || !metric.log ? v :
      v > 0 ? Math.log2(v) : NaN));
  const sorted = moved.filter(Number.isFinite).sort((a, b) => a - b);
  const at = (q) => sorted[Math.floor(q * (sorted.length - 1))];
  const middle = at(0.5);
  const spread = Math.max(at(0.75) - at(0.25), Math.abs(middle) * 1e-3, 1e-12);
  return moved.map((v, i) => {
    if (given[i] === null) return null;
    if (!Number.isFinite(v)) return NaN;
    return Math.min(1, Math.abs(v - middle) / (6 * spread));
  });
}

export class Ranks {
  constructor(owner) {
    this.owner = owner;
    this.metric = METRICS[0];
    this.limit = SHOWN;
    this.ranks = [];
    this.all = false;  // more than the few of the run's own reply
    this.tools = h('div', {class: 'tools'});
    this.head = h('h2', {}, 'Ranks');
    this.canvas = h('canvas', {class: 'cells', role: 'img'});
    this.readout = h('p', {class: 'readout note'}, '\u00a0');
    this.table = h('div', {class: 'scroll'});
    this.element = h('section', {id: 'ranks', tabindex: -1, hidden: true},
        h('div', {class: 'head'}, this.head, this.tools),
        this.canvas, this.readout, this.table);
    this.canvas.addEventListener('pointermove', (e) => this.hover(e));
    this.canvas.addEventListener('click', (e) => {
      const rank = this.rankAt(e);
      if (rank) owner.chooseRank(rank.rank);
    });
    // Thousands of ranks are asked for when somebody looks.
    this.seen = new IntersectionObserver((entries) => {
      if (entries.some((e) => e.isIntersecting)) this.loadAll();
    }, {rootMargin: '200px'});
    this.observer = new ResizeObserver(() => this.ranks.length &&
                                             this.drawCells());
    this.observer.observe(this.element);
    this.seen.observe(this.element);
  }

  stop() {
    this.seen.disconnect();
    this.observer.disconnect();
  }

  draw(run) {
    const few = run.ranks || [];
    this.world = Math.max(run.world_size || 0, few.length);
    // One alone is in the facts above.
    this.element.hidden = few.length === 0 || this.world < 2;
    if (this.all && few.length < this.world) {
      if (Date.now() - this.asked > 10000) this.loadAll();
      return;
    }
    this.ranks = few;
    this.drawAll();
  }

  async loadAll() {
    if (!this.owner.run || (this.owner.run.ranks || []).length >= this.world ||
        this.loading) {
      return;
    }
    this.loading = true;
    this.asked = Date.now();
    try {
      const run = await getJson(`${this.owner.path()}?ranks=${MOST}`);
      this.all = true;
      this.ranks = run.ranks;
      this.drawAll();
    } finally {
      this.loading = false;
    }
  }

  drawAll() {
    const sick = this.ranks.filter((r) => RANK[r.severity] >= 2).length;
    const lost = this.ranks.filter((r) => r.state === 'lost').length;
    fill(this.head, 'Ranks ', h('span', {class: 'note'}, [
      count(this.ranks.length) + (this.ranks.length < this.world ?
          ` of ${count(this.world)}` : ''),
      sick && `${count(sick)} in trouble`, lost && `${count(lost)} lost`,
    ].filter(Boolean).join(', ')));
    this.scaled = this.ranks.some((r) => r.values.loss_scale);
    const metrics = METRICS.filter((m) => !m.of ||
        this.ranks.some((r) => m.of(r) !== null));
    fill(this.tools, this.ranks.length > 1 && h('label', {}, 'Cells show ',
        h('select', {'data-key': 'metric', onchange: (e) => {
          this.metric = METRICS.find((m) => m.name === e.target.value);
          this.drawCells();
        }}, metrics.map((m) => h('option', {
          value: m.name, selected: m === this.metric}, this.titleOf(m))))));
    this.drawCells();
    this.drawTable();
  }

  // Without a loss scale nobody asks for overflows, but for what is not finite.
  titleOf(metric) {
    return this.scaled && metric.scaled || metric.title;
  }

  drawCells() {
    const n = this.ranks.length;
    this.canvas.hidden = n < 2;
    this.readout.hidden = n < 2;
    const width = this.element.clientWidth;
    if (n < 2 || !width) return;
    this.cell = n <= 64 ? 18 : n <= 1024 ? 12 : 9;
    this.columns = Math.max(1, Math.floor(width / this.cell));
    if (this.columns > 64) this.columns -= this.columns % 8;
    const rows = Math.ceil(n / this.columns);
    const dots = sizeCanvas(this.canvas, this.columns * this.cell,
                            rows * this.cell);
    this.canvas.setAttribute('aria-label', `${n} ranks, coloured by ` +
        `${this.titleOf(this.metric).toLowerCase()}; the table below has them ` +
        'too');
    this.paint(dots);
  }

  paint(dots) {
    const pen = this.canvas.getContext('2d');
    pen.scale(dots, dots);
    const colour = {
      none: cssColour('--cell'), info: cssColour('--cell'),
      warning: cssColour('--warning'), critical: cssColour('--critical'),
      accent: cssColour('--accent'), lost: cssColour('--faint'),
    };
    const far = this.metric.of && distances(this.ranks, this.metric);
    this.ranks.forEach((rank, i) => {
      const x = (i % this.columns) * this.cell;
      const y = Math.floor(i / this.columns) * this.cell;
      const size = this.cell - (this.cell > 10 ? 2 : 1);
      pen.globalAlpha = 1;
      pen.fillStyle = colour.none;
      if (!far) {
        pen.fillStyle = rank.state === 'lost' ? colour.lost :
                                                colour[rank.severity];
      }
      if (far && far[i] === null) return;
      pen.fillRect(x, y, size, size);
      if (!far || far[i] === 0) return;
      pen.fillStyle = Number.isNaN(far[i]) ? colour.critical : colour.accent;
      pen.globalAlpha = Number.isNaN(far[i]) ? 1 : far[i];
      pen.fillRect(x, y, size, size);
    });
  }

  rankAt(event) {
    const box = this.canvas.getBoundingClientRect();
    const column = Math.floor((event.clientX - box.left) / this.cell);
    const row = Math.floor((event.clientY - box.top) / this.cell);
    return column < this.columns ? this.ranks[row * this.columns + column] :
                                   undefined;
  }

  hover(event) {
    const rank = this.rankAt(event);
    this.readout.textContent = rank ? [
      `rank ${rank.rank}`, rank.host, rank.device, podText(rank.pod),
      rank.severity !== 'none' && rank.severity, rank.state,
      `step ${count(rank.last_step)}`,
      ...METRICS.filter((m) => m.of && m.name !== 'step' &&
                               m.of(rank) !== null)
          .map((m) => `${this.titleOf(m).toLowerCase()} ` +
                      m.format(m.of(rank))),
    ].filter(Boolean).join(' · ') : '\u00a0';
  }

  drawTable() {
    const has = (name) => this.ranks.some((r) => r.values[name]);
    const counted = (name) => this.ranks.some((r) => r.totals[name] !==
                                                     undefined);
    const columns = [
      ['Rank', (r) => h('button', {
        class: 'link', 'data-key': `rank ${r.rank}`, title:
            'Show this rank on the charts', onclick: () =>
                this.owner.chooseRank(r.rank)}, String(r.rank))],
      ['Where', (r) => [r.host, r.device, r.device_id].filter(Boolean)
                           .join(', '), 'name'],
      ['State', (r) => [r.severity !== 'none' && mark(r.severity), r.state]],
      ['Step', (r) => count(r.last_step), 'number'],
      has('loss') && ['Loss', (r) => value((r.values.loss || {}).last),
                      'number'],
      has('loss_scale') && ['Loss scale', (r) =>
          scale((r.values.loss_scale || {}).last), 'number'],
      has('grad_norm') && ['Gradient norm', (r) =>
          value((r.values.grad_norm || {}).last), 'number'],
      counted('overflows') && [this.scaled ? 'Overflows' : 'Not finite',
                               (r) => count(r.totals.overflows), 'number'],
      counted('skipped') && ['Skipped', (r) => count(r.totals.skipped),
                             'number'],
      ['Last record', (r) => h('time', {title: fullTime(r.last_record)},
                               ago(r.last_record)), 'number'],
    ].filter(Boolean);
    const rows = [...this.ranks].sort(worstFirst).slice(0, this.limit);
    fill(this.table,
        h('table', {}, h('thead', {}, h('tr', {}, columns.map((c) =>
            h('th', {scope: 'col', class: c[2]}, c[0])))),
          h('tbody', {}, rows.map((r) => h('tr', {
            class: r.rank === this.owner.rank ? 'chosen' : null,
          }, columns.map((c) => h('td', {class: c[2]}, c[1](r))))))),
        this.ranks.length > this.limit && h('button', {
          class: 'more', 'data-key': 'more ranks', onclick: () => {
            this.limit *= 4;
            this.drawTable();
          },
        }, `${count(this.ranks.length - this.limit)} more`));
  }
}
