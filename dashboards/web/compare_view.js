// Two runs side by side: what parts them, both losses, the tensors, and the
// settings that differ.

import {getJson, runPath} from './api.js';
import {Chart} from './chart.js';
import {FIELDS, middle, nearest, spread} from './chart_data.js';
import {DistanceMap} from './distance_map.js';
import {fill, h, mark} from './dom.js';
import {count, value, words} from './format.js';

const POINTS = 400;
const NEAR = 10;  // points on each side that a band is of
const AGAIN_MS = 1500;
const TRIES = 20;  // while two others are compared
const LEAD = {critical: 'Differs', warning: 'Look at it', none: 'Agrees'};
const WEIGHTS = {changes_results: 'yes', may_change: 'may change them',
                 does_not: 'no'};

// "RUN@ATTEMPT" or "RUN", as the command takes it.
function parsed(text) {
  const found = /^(.+)@(\d{1,9})$/.exec(text);
  return found ? {run: found[1], attempt: Number(found[2])} :
                 {run: text, attempt: null};
}

function addressOf(where, other) {
  const query = new URLSearchParams({run: where.run});
  if (where.attempt !== null) query.set('attempt', where.attempt);
  query.set('with', other.run);
  if (other.attempt !== null) query.set('with_attempt', other.attempt);
  return `/?${query}`;
}

export function compareAddress(run, attempt) {
  return addressOf({run, attempt}, {run: '', attempt: null});
}

export class CompareView {
  constructor(root, where, context) {
    this.where = where;
    this.context = context;
    this.other = {run: where.with, attempt: where.withAttempt};
    document.title = `${where.run} compared - nanwatch`;
    const back = new URLSearchParams({run: where.run});
    if (where.attempt !== null) back.set('attempt', where.attempt);
    context.crumbs(h('a', {href: `/?${back}`},
                     h('span', {class: 'name'}, where.run)), 'compare');
    this.head = h('section', {class: 'verdict-block'});
    this.problem = h('p', {class: 'note', role: 'status'});
    this.picker = h('form', {class: 'head picker', onsubmit: (e) => {
      e.preventDefault();
      this.pick(parsed(this.input.value.trim()));
    }});
    this.input = h('input', {
      type: 'search', list: 'known-runs', required: true,
      value: this.other.run + (this.other.attempt === null ? '' :
          `@${this.other.attempt}`),
      placeholder: 'RUN or RUN@ATTEMPT', 'aria-label': 'The other run',
    });
    this.known = h('datalist', {id: 'known-runs'});
    this.benchmark = h('span', {});
    this.picker.append(h('span', {class: 'note'}, 'Beside'), this.input,
                       this.known, h('button', {}, 'Compare'), this.benchmark);
    this.plot = h('div', {class: 'stack'});
    this.readout = h('span', {class: 'readout'});
    this.lossNote = h('p', {class: 'note'});
    this.losses = h('section', {id: 'losses', class: 'charts', hidden: true},
        h('div', {class: 'head'}, h('h2', {}, 'Losses'), this.readout),
        this.plot, this.lossNote);
    this.map = new DistanceMap();
    this.settings = h('section', {id: 'settings', hidden: true});
    root.append(this.head, this.picker, this.problem, this.losses,
                this.map.element, this.settings);
    this.plot.addEventListener('pointermove', (e) => this.hover(e));
    this.observer = new ResizeObserver(() => this.chart && this.chart.resize());
    this.observer.observe(this.plot);
    this.dark = matchMedia('(prefers-color-scheme: dark)');
    this.recolour = () => this.redraw();
    this.dark.addEventListener('change', this.recolour);
    this.begin();
  }

  stop() {
    this.stopped = true;
    this.observer.disconnect();
    this.map.stop();
    this.dark.removeEventListener('change', this.recolour);
    if (this.chart) this.chart.destroy();
  }

  pick(other) {
    if (other.run) this.context.go(addressOf(this.where, other));
  }

  async begin() {
    this.offer();
    if (!this.other.run) {
      fill(this.head, h('h1', {}, `Which run shall ${this.where.run} be ` +
          'compared with?'));
      this.input.focus();
      return;
    }
    fill(this.head, h('h1', {}, 'Reading both runs …'));
    try {
      const compared = await this.ask();
      await this.loadLosses(compared);
      if (this.stopped) return;
      this.compared = compared;
      this.redraw();
    } catch (e) {
      if (this.stopped) return;
      fill(this.head, h('h1', {}, 'They cannot be compared'));
      this.problem.textContent = `${e.message} ${e.todo || ''}`;
    }
  }

  // One pair at a time is compared: others wait.
  async ask() {
    const query = new URLSearchParams({with: this.other.run});
    if (this.other.attempt !== null) {
      query.set('with_attempt', this.other.attempt);
    }
    const path = `${runPath(this.where.run, this.where.attempt)}/compare?` +
        query;
    for (let i = 0; ; ++i) {
      try {
        return await getJson(path);
      } catch (e) {
        if (e.status !== 503 || i >= TRIES || this.stopped) throw e;
        await new Promise((done) => setTimeout(done, AGAIN_MS));
      }
    }
  }

  // The runs that are known, and the one that this one is held against.
  async offer() {
    try {
      const {runs} = await getJson('/api/v1/runs?ended=1&limit=500');
      fill(this.known, runs.map((r) => h('option', {
        value: `${r.run_id}@${r.attempt}`,
      })));
      const run = await getJson(
          `${runPath(this.where.run, this.where.attempt)}?ranks=0`);
      const reference = run.benchmark && run.benchmark.reference;
      if (!reference) return;
      fill(this.benchmark, h('button', {
        type: 'button', 'data-key': 'benchmark',
        onclick: () => this.pick(parsed(reference)),
      }, `Its benchmark, ${reference}`));
    } catch (e) {
      // Who compares may type the name.
    }
  }

  async loadLosses({a, b}) {
    const [ofA, ofB] = await Promise.all([a, b].map(async (side) => {
      const {buckets} = await getJson(`${runPath(side.run, side.attempt)}` +
          `/steps?points=${POINTS}`);
      return spread(buckets, 'loss', NEAR);
    }));
    this.buckets = ofB;
    this.besides = ofA.filter((bucket) => {
      const v = bucket.values.loss;
      return v && v.count;
    }).map((bucket) => {
      const {last, min, max} = bucket.values.loss;
      return [middle(bucket), Number.isFinite(last) ? last : max, min, max];
    });
  }

  redraw() {
    if (!this.compared) return;
    this.drawHead();
    this.drawLosses();
    const {map, divergence, says} = this.compared;
    this.map.show(map, divergence || null, says.tensors);
    this.drawSettings();
  }

  drawHead() {
    const {a, b, severity, says, comparable, divergence, map} = this.compared;
    this.head.className = `verdict-block ${severity}`;
    const missing = [a, b].filter((side) => side.missing);
    fill(this.head,
        h('p', {class: 'state'}, mark(severity),
          h('b', {}, comparable ? LEAD[severity] : 'Nothing to compare'),
          h('span', {class: 'note'}, `A: ${a.name} · B: ${b.name}`)),
        h('h1', {}, says.headline),
        divergence && h('p', {class: 'since'},
            h('span', {class: 'label'}, 'What parts them '),
            words(divergence.class)),
        says.what_to_do && h('section', {class: 'do'},
            h('h2', {}, 'What to do'), h('p', {}, says.what_to_do)),
        map.tensors.length === 0 &&
            says.tensors.map((text) => h('p', {class: 'note'}, text)),
        missing.map((side) =>
            h('p', {class: 'note'}, `${side.name}: ${side.missing}`)));
  }

  drawLosses() {
    const all = [...this.buckets.filter((b) => b.values.loss).flatMap(
        (b) => [b.first_step, b.last_step]), ...this.besides.map(([s]) => s)];
    this.losses.hidden = all.length === 0;
    if (!all.length) return;
    if (this.chart) this.chart.destroy();
    const {a, b, says, divergence} = this.compared;
    const field = FIELDS.find((f) => f.name === 'loss');
    // As a run with a benchmark.
    this.chart = new Chart({...field, title: `B: ${b.name}`}, {
      owner: {run: {benchmark: {reference: `A: ${a.name}`}}},
      benchmark: this.besides, step: divergence ? divergence.step : null,
      isLast: () => true,
    });
    this.plot.replaceChildren(this.chart.element);
    const from = all.reduce((x, y) => Math.min(x, y));
    const to = all.reduce((x, y) => Math.max(x, y));
    this.chart.draw(this.buckets, [from, Math.max(to, from + 1)]);
    this.lossNote.textContent = `${says.loss} A band is from the lowest to ` +
        `the highest of ${2 * NEAR + 1} points.`;
  }

  hover(event) {
    if (!this.chart || !this.chart.dygraph || !this.buckets.length) return;
    const box = this.chart.plot.getBoundingClientRect();
    const step = this.chart.dygraph.toDataXCoord(event.clientX - box.left);
    const bucket = this.buckets[nearest(this.buckets, step)];
    const x = middle(bucket);
    const [beside] = this.besides.slice().sort((p, q) =>
        Math.abs(p[0] - x) - Math.abs(q[0] - x));
    const of = (v) => (v === undefined ? 'none' : value(v));
    this.chart.pointAt(bucket, x);
    this.chart.readout.textContent = '';
    const own = bucket.values.loss;
    this.readout.textContent = `step ${count(bucket.last_step)} · A ` +
        `${of(beside && beside[1])} · B ${of(own && own.last)}`;
  }

  drawSettings() {
    const {settings} = this.compared;
    this.settings.hidden = settings.length === 0;
    fill(this.settings, h('h2', {}, 'Settings that differ ',
                          h('span', {class: 'note'}, count(settings.length))),
        h('div', {class: 'scroll'}, h('table', {},
          h('thead', {}, h('tr', {}, ['Setting', 'A', 'B', 'Changes results']
              .map((name) => h('th', {scope: 'col'}, name)))),
          h('tbody', {}, settings.map((s) => h('tr', {
            class: s.weight === 'changes_results' ? 'bad' : null,
          }, h('td', {class: 'name'}, s.key),
             h('td', {}, s.a || '–'), h('td', {}, s.b || '–'),
             h('td', {}, WEIGHTS[s.weight])))))));
  }
}
