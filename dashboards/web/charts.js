// The charts of a run: one window and one cursor for all of them, incidents on
// the same axis.

import {getJson} from './api.js';
import {Chart} from './chart.js';
import {collected, isBad, middle, nearest, nearestPoint, skips, sparse,
        stepsAPoint} from './chart_data.js';
import {fill, h} from './dom.js';
import {clock, count} from './format.js';
import {drawLane} from './lane.js';
import {legend, optimizersOf, stepByStep} from './optimizers.js';

const MOST_POINTS = 1000;
const FEWEST_POINTS = 300;
const FIRST_SHOWN = 3;  // fields; others are under "more"
const NARROWEST = 4;    // steps of a window
const POINTS_NEAR = 20;  // around a step that a link named

// An incident that was never worth a warning. Its bar is shown on request.
const isNote = (incident) => incident.worst_severity === 'info';

export class Charts {
  // `owner`: {path(), rank, remember(), incident(id)}.
  constructor(owner, {step, from, to}) {
    this.owner = owner;
    this.step = step;  // the one that a link named
    this.window = from !== null && to !== null && to > from ? [from, to] : null;
    this.charts = [];
    this.buckets = [];
    this.incidents = [];
    this.benchmark = [];  // [[step, loss]]
    this.whole = [0, 1];
    this.at = -1;  // bucket under the cursor
    this.all = false;
    this.title = h('h2', {}, 'Over steps');
    this.where = h('span', {class: 'readout'});
    this.legend = h('p', {class: 'legend', hidden: true});
    this.lane = h('div', {class: 'lane'});
    this.stack = h('div', {class: 'stack'});
    this.selection = h('div', {class: 'selection', hidden: true});
    this.note = h('p', {class: 'note'});
    this.tools = h('div', {class: 'tools'});
    this.element = h('section', {
      id: 'charts', class: 'charts', tabindex: 0, role: 'group', 'data-key':
          'charts', 'aria-label': 'Charts over steps. Arrows move the ' +
          'cursor, plus and minus zoom, n goes to the next bad step.',
    }, h('div', {class: 'head'}, this.title, this.where,
         this.tools),
       this.legend, this.lane, h('div', {class: 'field'}, this.stack, this.selection),
       this.note);
    this.listen();
    this.observer = new ResizeObserver(() => this.resized());
    this.observer.observe(this.stack);
    this.dark = matchMedia('(prefers-color-scheme: dark)');
    this.recolour = () => this.rebuild();
    this.dark.addEventListener('change', this.recolour);
  }

  stop() {
    this.stopped = true;
    this.observer.disconnect();
    this.dark.removeEventListener('change', this.recolour);
    for (const chart of this.charts) chart.destroy();
  }

  loaded() {
    return this.buckets.length > 0;
  }

  isLast(chart) {
    return this.charts[this.charts.length - 1] === chart;
  }

  // False: the steps could not be had, and it says so.
  async load() {
    const whole = await this.fetch('');
    if (!whole) return false;
    this.whole = whole.length ?
        [whole[0].first_step, whole[whole.length - 1].last_step] : [0, 1];
    if (this.whole[1] <= this.whole[0]) this.whole[1] = this.whole[0] + 1;
    const opens = this.step !== null && !this.opened && whole.length > 0;
    if (opens && !this.window) this.window = this.around(this.step, whole);
    this.opened = true;
    this.buckets = whole;
    this.sparse = sparse(whole);
    this.benchmark = await this.losses();
    if (this.window) {
      const [from, to] = this.window.map(Math.round);
      this.buckets = await this.fetch(`&from=${from}&to=${to}`) || whole;
    }
    if (opens) this.at = nearestPoint(this.buckets, this.step);
    this.draw();
    return true;
  }

  // Steps about `step`, within the run; null: so many that all may be shown.
  around(step, whole) {
    const [first, last] = this.whole;
    const half = Math.max(200, (last - first) / 20,
                          stepsAPoint(whole) * POINTS_NEAR / 2);
    if (last - first <= 4 * half) return null;
    const from = Math.min(Math.max(step - half, first), last - 2 * half);
    return [from, from + 2 * half];
  }

  async fetch(range) {
    // About one a pixel, in hundreds, so that pages alike ask alike.
    const width = 100 * Math.ceil(this.stack.clientWidth / 100);
    const points = Math.min(MOST_POINTS, Math.max(FEWEST_POINTS, width));
    const path = `${this.owner.path()}/steps?points=${points}&rank=` +
        `${this.owner.rank}${range}`;
    try {
      const reply = await getJson(path);
      this.note.textContent = reply.buckets.length ? '' :
          `Rank ${this.owner.rank} has no steps here.`;
      return stepByStep(reply.buckets);
    } catch (e) {
      if (e.name === 'AbortError') return null;
      this.note.textContent = `${e.message} ${e.todo || ''}`;
      return null;
    }
  }

  // Of the run that this one is held against; none: [].
  async losses() {
    if (!this.owner.run.benchmark) return [];
    try {
      const {points} = await getJson(`${this.owner.path()}/benchmark`);
      return points.filter(([, loss]) => Number.isFinite(loss));
    } catch (e) {
      return [];
    }
  }

  setIncidents(incidents) {
    this.incidents = incidents;
    if (!this.charts.length) return;
    this.drawTools(collected(this.buckets));
    this.drawLane();
  }

  draw() {
    if (this.stopped) return;
    const fields = collected(this.buckets);
    const shown = this.all ? fields : this.firstOf(fields);
    const fieldNames = shown.map((f) => f.name).join();
    if (fieldNames !== this.fieldNames) {
      for (const chart of this.charts) chart.destroy();
      this.charts = shown.map((f) => new Chart(f, this));
      this.fieldNames = fieldNames;
      // As they are: they are drawn on.
      this.stack.replaceChildren(...this.charts.map((c) => c.element));
    }
    const skipped = skips(this.buckets);
    const names = optimizersOf(this.buckets);
    this.legend.hidden = !names.length;
    fill(this.legend, legend(names));
    this.charts.forEach((chart, i) => {
      chart.names = names;
      chart.skipped = i === 0 ? skipped : null;
      chart.draw(this.buckets, this.shown());
    });
    const {world_size: world} = this.owner.run;
    fill(this.title, 'Over steps', world !== 1 &&
        h('span', {class: 'note'}, ` rank ${this.owner.rank}`));
    this.drawTools(fields);
    this.drawLane();
    this.point(this.at < this.buckets.length ? this.at : -1);
  }

  shown() {
    return this.window || this.whole;
  }

  firstOf(fields) {
    const first = fields.slice(0, FIRST_SHOWN);
    const dense = first.filter((f) => !this.sparse.has(f.name));
    return dense.length ? dense : first;
  }

  rebuild() {
    this.fieldNames = null;
    if (this.buckets.length) this.draw();
  }

  resized() {
    const width = this.stack.clientWidth;
    if (!width || width === this.width) return;
    this.width = width;
    for (const chart of this.charts) chart.resize();
    if (this.charts.length) this.drawLane();
  }

  drawTools(fields) {
    const [from, to] = this.shown();
    const more = fields.length - this.firstOf(fields).length;
    fill(this.tools,
        this.window && h('span', {class: 'note'},
            `steps ${count(Math.round(from))} to ${count(Math.round(to))}`),
        this.window && h('button', {'data-key': 'whole', onclick: () =>
            this.zoom(null)}, 'Whole run'),
        h('button', {'data-key': 'next', title: 'n', onclick: () =>
            this.next(1)}, 'Next bad step'),
        this.incidents.some(isNote) && h('button', {
          'data-key': 'notes', onclick: () => {
            this.notes = !this.notes;
            this.draw();
          },
        }, this.notes ? 'Hide notes' : 'Show notes'),
        more > 0 && h('button', {
          'data-key': 'fields', onclick: () => {
            this.all = !this.all;
            this.draw();
          },
        }, this.all ? 'Fewer charts' :
            `${more} more ${more > 1 ? 'charts' : 'chart'}`));
  }

  drawLane() {
    if (!this.charts.length) return;
    const shown = this.incidents.filter((i) => this.notes || !isNote(i));
    drawLane(this.lane, shown, this.shown(), this.charts[0].area,
             (incident) => this.owner.incident(incident));
  }

  // `window`: null is the whole run.
  zoom(window) {
    if (window) {
      let [from, to] = window;
      if (to - from < NARROWEST) {
        const middle = (from + to) / 2;
        [from, to] = [middle - NARROWEST / 2, middle + NARROWEST / 2];
      }
      from = Math.max(from, this.whole[0] - 0.5);
      to = Math.min(to, this.whole[1] + 0.5);
      const all = from <= this.whole[0] && to >= this.whole[1];
      this.window = all || to <= from ? null : [from, to];
    } else {
      this.window = null;
    }
    this.owner.remember({
      from: this.window && Math.round(this.window[0]),
      to: this.window && Math.round(this.window[1]),
    });
    this.at = -1;
    this.draw();
    this.load();
    this.owner.windowChanged();
  }

  zoomBy(factor) {
    const [from, to] = this.shown();
    const bucket = this.buckets[this.at];
    const about = bucket ? middle(bucket) : (from + to) / 2;
    this.zoom([about - (about - from) * factor, about + (to - about) * factor]);
  }

  showStep(step) {
    this.step = step;
    const half = Math.max(100, (this.whole[1] - this.whole[0]) / 50);
    this.zoom([step - half, step + half]);
    this.element.scrollIntoView({block: 'nearest'});
  }

  point(index) {
    this.at = index;
    const bucket = this.buckets[index] || null;
    const x = bucket ? middle(bucket) : null;
    for (const chart of this.charts) chart.pointAt(bucket, x);
    this.where.textContent = bucket ? this.inWords(bucket) : '';
  }

  inWords(bucket) {
    const {first_step: first, last_step: last} = bucket;
    const steps = first === last ? `step ${count(first)}` :
        `steps ${count(first)} to ${count(last)}`;
    const bad = [];
    if (bucket.skipped) {
      bad.push(bucket.records === 1 ? 'skipped' :
          `${count(bucket.skipped)} of ${count(bucket.records)} skipped`);
    } else if (bucket.overflows) {
      const scaled = this.owner.run.values && this.owner.run.values.loss_scale;
      const [one, many] = scaled ? ['overflow', 'overflows'] :
                                   ['not finite', 'not finite'];
      bad.push(bucket.records === 1 ? one : `${count(bucket.overflows)} ${many}`);
    }
    return [steps, clock(bucket.last), ...bad].join(' · ');
  }

  next(direction) {
    const end = direction > 0 ? this.buckets.length : -1;
    const start = this.at < 0 && direction < 0 ? this.buckets.length : this.at;
    for (let i = start + direction; i !== end; i += direction) {
      if (i >= 0 && isBad(this.buckets[i])) {
        this.point(i);
        return;
      }
    }
    this.where.textContent = direction > 0 ? 'no bad step after this one' :
                                             'no bad step before this one';
  }

  listen() {
    const stack = this.stack;
    const stepAt = (event) => {
      const g = this.charts[0].dygraph;
      const box = this.charts[0].plot.getBoundingClientRect();
      return g.toDataXCoord(event.clientX - box.left);
    };
    let begun = null;
    stack.addEventListener('pointerdown', (event) => {
      if (event.button || !this.charts.length || event.pointerType === 'touch')
        return;
      begun = {x: event.clientX, step: stepAt(event)};
      stack.setPointerCapture(event.pointerId);
    });
    stack.addEventListener('pointermove', (event) => {
      if (!this.charts.length || !this.charts[0].dygraph) return;
      this.point(nearest(this.buckets, stepAt(event)));
      if (begun) this.drawSelection(begun.x, event.clientX);
    });
    stack.addEventListener('pointerup', (event) => {
      if (!begun) return;
      const from = begun;
      begun = null;
      this.selection.hidden = true;
      if (Math.abs(event.clientX - from.x) < 6) return;
      this.zoom([from.step, stepAt(event)].sort((a, b) => a - b));
    });
    stack.addEventListener('pointercancel', () => {
      begun = null;
      this.selection.hidden = true;
    });
    stack.addEventListener('pointerleave', (event) => {
      if (event.pointerType !== 'touch' && !begun) this.point(-1);
    });
    stack.addEventListener('dblclick', () => this.zoom(null));
    this.element.addEventListener('keydown', (e) => this.onKey(e));
  }

  drawSelection(a, b) {
    const box = this.stack.getBoundingClientRect();
    this.selection.hidden = Math.abs(a - b) < 6;
    this.selection.style.left = `${Math.min(a, b) - box.left}px`;
    this.selection.style.width = `${Math.abs(a - b)}px`;
  }

  onKey(event) {
    if (event.target !== this.element) return;
    const [from, to] = this.shown();
    const direction = {ArrowLeft: -1, ArrowRight: 1}[event.key];
    if (!direction) return;
    event.preventDefault();
    if (event.shiftKey) {
      const by = direction * (to - from) / 4;
      this.zoom([from + by, to + by]);
    } else {
      const start = this.at < 0 && direction < 0 ? this.buckets.length :
                                                   this.at;
      this.point(Math.max(0, Math.min(this.buckets.length - 1,
                                      start + direction)));
    }
  }

  key(event) {
    const does = {
      '+': () => this.zoomBy(0.5), '=': () => this.zoomBy(0.5),
      '-': () => this.zoomBy(2), '0': () => this.zoom(null),
      n: () => this.next(1), p: () => this.next(-1),
    }[event.key];
    if (!does || !this.charts.length) return false;
    does();
    return true;
  }
}
