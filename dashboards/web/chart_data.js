// Buckets of the API as what a chart draws. Every bucket keeps its smallest and
// largest value and its counts of NaN, infinities and skipped steps, so that no
// single bad step is lost in a million.

import {count, number} from './format.js';
import {valuesOf} from './optimizers.js';

export const FIELDS = [
  {name: 'loss_scale', title: 'Loss scale', base: 2, unit: 'scale'},
  {name: 'loss', title: 'Loss', base: 10},
  {name: 'grad_norm', title: 'Gradient norm', base: 10},
  {name: 'update_norm', title: 'Update norm', base: 10},
  {name: 'param_norm', title: 'Weight norm', base: 10},
  {name: 'underflow_fraction', title: 'Underflow', base: 10},
  {name: 'zero_fraction', title: 'Zeros', base: 10},
  {name: 'learning_rate', title: 'Learning rate', base: 10},
];

export function middle(bucket) {
  return (bucket.first_step + bucket.last_step) / 2;
}

export function collected(buckets) {
  return FIELDS.filter((f) => buckets.some((b) => b.values[f.name]));
}

// What a run is judged by: drawn however little of it there is.
const ALWAYS = 3;      // of FIELDS
const FEW_POINTS = 3;  // fewer make no course

// Names of fields that have a number here and there only.
export function sparse(buckets) {
  return new Set(FIELDS.slice(ALWAYS).map((f) => f.name).filter((name) =>
      buckets.filter((b) => b.values[name] && b.values[name].count > 0)
          .length < FEW_POINTS));
}

function nonFinite(v) {
  return (v.nan || 0) + (v.pos_inf || 0) + (v.neg_inf || 0);
}

// More than this many usual distances between two buckets are a gap.
const GAP = 8;

function usualDistance(buckets) {
  const distances = [];
  for (let i = 1; i < buckets.length; ++i) {
    distances.push(middle(buckets[i]) - middle(buckets[i - 1]));
  }
  distances.sort((a, b) => a - b);
  return distances[distances.length >> 1] || 1;
}

const NOTHING = [null, null, null];
const GAP_IN_LINE = [NaN, NaN, NaN];

// Of one optimizer; null: not in this bucket.
function pointOf(v) {
  if (!v) return NOTHING;
  if (!v.count) return GAP_IN_LINE;
  const last = number(v.last);
  return [v.min, Number.isFinite(last) ? last : v.max, v.max];
}

// {rows: [[x, [low, last, high], ...]], marks, low, high, lowest}: what one
// chart shows of one field, a line for each optimizer of `names`, one line where
// there are none. `low` and `high` are over `from` .. `to`.
export function seriesOf(buckets, field, from, to, names) {
  const rows = [];
  const marks = [];
  let low = Infinity;
  let high = -Infinity;
  let lowest = Infinity;  // above 0
  const gap = GAP * usualDistance(buckets);
  let before = null;
  for (const bucket of buckets) {
    const v = bucket.values[field];
    const x = middle(bucket);
    if (before && bucket.first_step - before.last_step > gap) {
      rows.push([before.last_step + 1,
                 ...(names.length ? names : ['']).map(() => GAP_IN_LINE)]);
    }
    before = bucket;
    // Not collected is no gap: a log has a loss every tenth or hundredth step.
    if (!v) continue;
    if (nonFinite(v) > 0) {
      const newest = marks[marks.length - 1];
      if (newest && newest.to + 1 >= bucket.first_step) {
        newest.to = bucket.last_step;  // one mark, without seams
      } else {
        marks.push({from: bucket.first_step, to: bucket.last_step});
      }
    }
    rows.push([x, ...(names.length ?
        names.map((name) => pointOf(valuesOf(bucket, name)[field])) :
        [pointOf(v)])]);
    if (!v.count) continue;
    if (bucket.last_step < from || bucket.first_step > to) continue;
    low = Math.min(low, v.min);
    high = Math.max(high, v.max);
    if (v.max > 0) lowest = Math.min(lowest, v.min > 0 ? v.min : v.max);
  }
  return {rows, marks, low, high, lowest};
}

// The same buckets, each with the range of `near` on either side: how far the
// values spread there.
export function spread(buckets, field, near) {
  return buckets.map((bucket, i) => {
    const own = bucket.values[field];
    if (!own || !own.count) return bucket;
    const around = buckets.slice(Math.max(0, i - near), i + near + 1)
        .map((b) => b.values[field]).filter((v) => v && v.count);
    const min = Math.min(...around.map((v) => v.min));
    const max = Math.max(...around.map((v) => v.max));
    return {...bucket,
            values: {...bucket.values, [field]: {...own, min, max}}};
  });
}

// On a logarithmic axis nothing is at or below 0: it is drawn at the bottom.
export function raisedTo(rows, floor) {
  const up = (v) => (v === null ? null : Math.max(v, floor));
  return rows.map(([x, ...lines]) => [x, ...lines.map((l) => l.map(up))]);
}

export function skips(buckets) {
  return buckets.filter((b) => b.skipped > 0 || b.overflows > 0)
      .map((b) => ({
        from: b.first_step, to: b.last_step,
        share: Math.max(b.skipped, b.overflows) / b.records,
        skipped: b.skipped, overflows: b.overflows, records: b.records,
      }));
}

// What the marks of skips() stand for.
export function inOneWord(skipped, scaled) {
  const lost = skipped.some((s) => s.skipped > 0);
  const kept = skipped.some((s) => s.overflows > s.skipped);
  if (!kept) return 'skipped updates';
  const bad = scaled ? 'overflows' : 'not finite';
  return lost ? `skipped updates, or ${bad}` : `${bad}, applied all the same`;
}

export function isBad(bucket) {
  return bucket.skipped > 0 || bucket.overflows > 0 ||
      Object.values(bucket.values).some((v) => nonFinite(v) > 0);
}

// The bucket that holds `step`, or the nearest one; -1: there is none.
export function nearest(buckets, step) {
  let low = 0;
  let high = buckets.length - 1;
  if (high < 0) return -1;
  while (low < high) {
    const half = (low + high) >> 1;
    if (buckets[half].last_step < step) {
      low = half + 1;
    } else {
      high = half;
    }
  }
  const gap = (i) => Math.max(0, buckets[i].first_step - step,
                              step - buckets[i].last_step);
  return low > 0 && gap(low - 1) < gap(low) ? low - 1 : low;
}

// How many steps it is from one value to the next: more than 1 where a log has a
// line every so many.
export function stepsAPoint(buckets) {
  const values = (b) => Math.max(0, ...Object.values(b.values).map(
      (v) => v.count + nonFinite(v)));
  const points = buckets.reduce((sum, b) => sum + values(b), 0);
  if (!points) return 1;
  const {last_step: last} = buckets[buckets.length - 1];
  return (last - buckets[0].first_step + 1) / points;
}

// The bucket that says something of `step`: the one that holds it, if it is bad
// or has values, else the nearest that has some; -1: there is none.
export function nearestPoint(buckets, step) {
  const at = nearest(buckets, step);
  if (at < 0 || isBad(buckets[at])) return at;
  let found = -1;
  const gap = (b) => Math.max(0, b.first_step - step, step - b.last_step);
  buckets.forEach((b, i) => {
    if (!Object.keys(b.values).length) return;
    if (found < 0 || gap(b) < gap(buckets[found])) found = i;
  });
  return found;
}

export function inWords(v, format) {
  if (!v) return '';
  const bad = [[v.nan, 'NaN'], [v.pos_inf, 'Inf'], [v.neg_inf, '−Inf']]
                  .filter(([n]) => n > 0)
                  .map(([n, word]) => (n > 1 ? `${count(n)} ${word}` : word));
  if (!v.count) return bad.join(', ');
  const text = v.min === v.max ? format(v.min) :
                                 `${format(v.min)} … ${format(v.max)}`;
  return [text, ...bad].join(', ');
}
