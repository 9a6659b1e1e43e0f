// Attempts of one run beside each other, on one axis of steps.

import {getJson, runPath} from './api.js';
import {middle} from './chart_data.js';
import {cssColour, fill, h, mark} from './dom.js';
import {ago, count, duration, fullTime, number, scale, value} from
    './format.js';
import {lookOf, optimizersOf, valuesOf} from './optimizers.js';
import {clauses, lifeOf, stateOf} from './state.js';

const POINTS = 200;
const MOST = 12;  // attempts that are drawn
const WIDTH = 300;
const HEIGHT = 36;

// The last value of each bucket; marks where it was not finite.
function spark(buckets, field, domain, range, log) {
  // What is drawn counts as content, or an older drawing would be kept.
  const canvas = h('canvas', {
    class: 'spark', width: 2 * WIDTH, height: 2 * HEIGHT, 'aria-hidden': 'true',
    'data-drawn': [field, ...domain, ...range, JSON.stringify(
        buckets.length ? buckets[buckets.length - 1].values[field] : null)]
        .join(' '),
  });
  const pen = canvas.getContext('2d');
  pen.scale(2, 2);
  const move = (v) => (log ? Math.log(Math.max(v, range[0])) : v);
  const [low, high] = range.map(move);
  const x = (step) => 1 + (WIDTH - 2) * (step - domain[0]) /
      (domain[1] - domain[0] || 1);
  const y = (v) => HEIGHT - 3 - (HEIGHT - 6) * (move(v) - low) /
      (high - low || 1);
  pen.lineWidth = 1.25;
  const names = optimizersOf(buckets);
  const lines = names.length ?
      names.map((name) => (bucket) => valuesOf(bucket, name)) :
      [(bucket) => bucket.values];
  lines.forEach((valuesIn, i) => {
    pen.strokeStyle = cssColour(lookOf(i).property);
    pen.beginPath();
    let drawing = false;
    for (const bucket of buckets) {
      const v = valuesIn(bucket)[field];
      if (!v || !v.count) {
        drawing = drawing && names.length > 0;  // it was another's turn
        continue;
      }
      const last = number(v.last);
      const at = [x(middle(bucket)), y(Number.isFinite(last) ? last : v.max)];
      if (drawing) {
        pen.lineTo(...at);
      } else {
        pen.moveTo(...at);
      }
      drawing = true;
    }
    pen.stroke();
  });
  pen.fillStyle = cssColour('--critical');
  for (const bucket of buckets) {
    const v = bucket.values[field];
    if (!v || !(v.nan || v.pos_inf || v.neg_inf)) continue;
    pen.fillRect(x(bucket.first_step), 0,
                 Math.max(2, x(bucket.last_step) - x(bucket.first_step)), 4);
  }
  return canvas;
}

function spanOf(all, field) {
  let low = Infinity;
  let high = -Infinity;
  for (const bucket of all.flat()) {
    const v = bucket.values[field];
    if (!v || !v.count) continue;
    low = Math.min(low, v.min);
    high = Math.max(high, v.max);
  }
  return [low, high];
}

export class Attempts {
  constructor(owner) {
    this.owner = owner;
    this.table = h('div', {class: 'scroll'});
    this.head = h('h2', {}, 'Attempts');
    this.element = h('section', {id: 'attempts', hidden: true}, this.head,
                     this.table);
  }

  async load() {
    const {runs} = await getJson('/api/v1/runs?ended=1');
    const all = runs.filter((r) => r.run_id === this.owner.where.run)
                    .map((r) => (r.attempt === this.owner.run.attempt ?
                                     this.owner.run : r))
                    .sort((a, b) => b.attempt - a.attempt);
    this.element.hidden = all.length < 2;
    if (all.length < 2) return;
    const drawn = all.slice(0, MOST);
    const buckets = await Promise.all(drawn.map(async (run) => {
      try {
        const path = runPath(run.run_id, run.attempt);
        return (await getJson(`${path}/steps?points=${POINTS}&rank=${
            this.owner.rank}`)).buckets;
      } catch (e) {
        return [];
      }
    }));
    fill(this.head, 'Attempts ', h('span', {class: 'note'},
        `${count(all.length)}, on one axis of steps`));
    this.draw(drawn, buckets);
  }

  draw(runs, buckets) {
    const ends = buckets.flat();
    const domain = [
      ends.reduce((low, b) => Math.min(low, b.first_step), Infinity),
      ends.reduce((high, b) => Math.max(high, b.last_step), -Infinity),
    ];
    const fields = ['loss_scale', 'loss'].filter((f) =>
        ends.some((b) => b.values[f]));
    const ranges = fields.map((f) => spanOf(buckets, f));
    const log = fields.map((f, i) => ranges[i][0] > 0 &&
        (f === 'loss_scale' || ranges[i][1] / ranges[i][0] > 3));
    const titles = {loss_scale: 'Loss scale', loss: 'Loss'};
    const formats = {loss_scale: scale, loss: value};
    fill(this.table, h('table', {},
        h('thead', {}, h('tr', {}, ['Attempt', 'Verdict', 'Steps'].map((n) =>
            h('th', {scope: 'col'}, n)),
          fields.map((f, i) => h('th', {scope: 'col'}, titles[f],
              h('span', {class: 'note'}, ' ', [...new Set(ranges[i].map(
                  formats[f]))].join(' to ')))))),
        h('tbody', {}, runs.map((run, i) => h('tr', {
          class: run.attempt === this.owner.run.attempt ? 'chosen' : null,
        }, this.cells(run, buckets[i]), fields.map((f, k) => h('td', {},
            spark(buckets[i], f, domain, ranges[k], log[k]))))))));
  }

  cells(run, buckets) {
    const href = `/?run=${encodeURIComponent(run.run_id)}&attempt=` +
        run.attempt;
    const {word, severity} = stateOf(run);
    const first = buckets.length ? count(buckets[0].first_step) : '';
    const until = run.ended || run.last_record;
    return [
      h('td', {}, h('a', {href, 'data-key': `attempt ${run.attempt}`},
                    String(run.attempt)),
        h('br'), h('time', {class: 'note', title: fullTime(run.opened)},
                   ago(run.opened))),
      h('td', {class: 'wide'}, mark(severity), h('b', {}, word), ' ',
        clauses(run)[0], ' ', h('span', {class: 'note'}, lifeOf(run))),
      h('td', {}, `${first} to ${count(run.last_step)}`, h('br'),
        until && h('span', {class: 'note'}, duration(until - run.opened))),
    ];
  }
}
