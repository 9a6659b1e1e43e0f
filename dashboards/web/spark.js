// Sparklines of the rows of runs: loss over loss scale, each on its own height.
// A row asks for its steps once it is seen, one row after the other.

import {getJson, runPath} from './api.js';
import {h} from './dom.js';
import {number} from './format.js';
import {lookOf, optimizersOf, valuesOf} from './optimizers.js';

const POINTS = 60;       // buckets a run
const WIDTH = 120;       // pixels, as all below
const HEIGHT = 28;
const EDGE = 2;
const NARROWEST = 2;     // of a bar
const AGAIN_MS = 10000;  // a run's steps are asked for at most so often
const MOST = 400;        // runs whose steps are kept
const STEEP = 100;       // a range above this is drawn by powers

// {lines: [[[x, y]]], bad: [[from, to]]} of one field, a line for each optimizer of
// `names`, one where there are none; x and y from 0 to 1; y grows downwards.
// Null without two buckets of values.
function shapeOf(buckets, field, names) {
  const held = buckets.filter((b) => b.values[field]);
  if (held.length < 2) return null;
  const first = buckets[0].last_step;
  const across = buckets[buckets.length - 1].last_step - first || 1;
  const known = (names.length ? names : [null]).map(() => []);
  const bad = [];
  let wasBad = false;
  for (const bucket of held) {
    const v = bucket.values[field];
    const x = (bucket.last_step - first) / across;
    const isBad = Boolean(v.nan || v.pos_inf || v.neg_inf);
    if (isBad && wasBad) {
      bad[bad.length - 1][1] = x;  // one bar, however wide its buckets are
    } else if (isBad) {
      bad.push([Math.max(0, (bucket.first_step - first) / across), x]);
    }
    wasBad = isBad;
    known.forEach((line, i) => {
      const own = names.length ? valuesOf(bucket, names[i])[field] : v;
      if (!own || !own.count) return;
      const last = number(own.last);
      line.push([x, Number.isFinite(last) ? last : own.max]);
    });
  }
  const all = known.flat().map(([, y]) => y);
  const low = Math.min(...all);
  const high = Math.max(...all);
  const on = low > 0 && high / low > STEEP ? Math.log : (y) => y;
  const range = on(high) - on(low);
  const lines = known.map((line) => line.map(([x, y]) => [
    x, range > 0 ? 1 - (on(y) - on(low)) / range : 0.5,
  ]));
  return {lines, bad};
}

const atX = (x) => (EDGE + x * (WIDTH - 2 * EDGE)).toFixed(1);
const atY = (y) => (EDGE + y * (HEIGHT - 2 * EDGE)).toFixed(1);

function lines(shape, name) {
  return shape && shape.lines.map((points, at) => points.length > 0 &&
      h('svg:path', {
        class: name, 'data-line': shape.lines.length > 1 ?
            lookOf(at).property.slice(2) : null,
        d: points.map(([x, y], i) =>
            `${i ? 'L' : 'M'}${atX(x)} ${atY(y)}`).join(''),
      }));
}

// A bar at the bottom where there is NaN or an infinity.
function bars(shape) {
  if (!shape || !shape.bad.length) return null;
  const d = shape.bad.map(([from, to]) => {
    const left = Math.min(Number(atX(from)), WIDTH - EDGE - NARROWEST);
    const right = Math.max(Number(atX(to)), left + NARROWEST);
    return `M${left} ${HEIGHT - 3}H${right}`;
  }).join('');
  return h('svg:path', {class: 'bad-at', d});
}

function draw(buckets) {
  const loss = shapeOf(buckets, 'loss', optimizersOf(buckets));
  const scale = shapeOf(buckets, 'loss_scale', []);
  if (!loss && !scale) return null;
  const what = [loss && 'loss', scale && 'loss scale'].filter(Boolean);
  const said = what.join(' and ') + ' over steps' +
      (loss && loss.bad.length ? '; the loss was not finite' : '');
  return h('svg:svg', {
    class: 'spark-line', viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    preserveAspectRatio: 'none', role: 'img', 'aria-label': said,
  }, h('svg:title', {}, said), lines(scale, 'scale'), lines(loss, 'loss'),
  bars(loss));
}

export class Sparks {
  // `drawn` is called when another row has its line.
  constructor(drawn) {
    this.drawn = drawn;
    this.kept = new Map();     // key -> {step, asked, picture}
    this.waiting = new Map();  // key -> run
    this.seen = new IntersectionObserver((all) => {
      for (const {target, isIntersecting} of all) {
        if (isIntersecting) this.want(target.run);
      }
    });
  }

  stop() {
    this.stopped = true;
    this.seen.disconnect();
  }

  // What is known of the run's line; null: nothing yet.
  of(run) {
    const kept = this.kept.get(keyOf(run));
    return kept && kept.picture ? kept.picture.cloneNode(true) : null;
  }

  // Watches whether these rows are looked at, and no others: [[row, run]].
  look(rows) {
    this.seen.disconnect();
    for (const [row, run] of rows) {
      row.run = run;
      this.seen.observe(row);
    }
  }

  want(run) {
    const kept = this.kept.get(keyOf(run));
    if (run.last_step === null) return;
    if (kept && (kept.step === run.last_step ||
                 Date.now() - kept.asked < AGAIN_MS)) return;
    this.waiting.set(keyOf(run), run);
    if (!this.asking) this.ask();
  }

  async ask() {
    this.asking = true;
    while (this.waiting.size && !this.stopped) {
      const [key, run] = this.waiting.entries().next().value;
      this.waiting.delete(key);
      const kept = {step: run.last_step, asked: Date.now(), picture: null};
      try {
        const {buckets} = await getJson(
            `${runPath(run.run_id, run.attempt)}/steps?points=${POINTS}`);
        kept.picture = draw(buckets);
      } catch (e) {
        // The row goes without: its verdict says what matters.
      }
      this.kept.delete(key);
      this.kept.set(key, kept);
      if (this.kept.size > MOST) {
        this.kept.delete(this.kept.keys().next().value);
      }
      if (kept.picture && !this.stopped) this.drawn();
    }
    this.asking = false;
  }
}

function keyOf(run) {
  return `${run.run_id}/${run.attempt}`;
}
