// Optimizers of one run that take turns, as a GAN's: a line of its own for each.

import {h} from './dom.js';

// Custom properties of the style sheet; beyond, they come again, dashed.
const COLOURS = ['--accent', '--second', '--third', '--fourth'];
const DASHES = [5, 3];

// Names, as they come; []: there is one optimizer, and one line.
export function optimizersOf(buckets) {
  const names = new Set();
  for (const bucket of buckets) {
    for (const [name, values] of Object.entries(bucket.optimizers || {})) {
      if (Object.keys(values).length) names.add(name);
    }
  }
  return names.size > 1 ? [...names] : [];
}

// What is of one optimizer in a bucket. Without names all is of the one that
// has none.
export function valuesOf(bucket, name) {
  if (bucket.optimizers) return bucket.optimizers[name] || {};
  return name === '' ? bucket.values : {};
}

export function titleOf(name) {
  return name || 'without a name';
}

export function lookOf(index) {
  return {
    property: COLOURS[index % COLOURS.length],
    dashes: index < COLOURS.length ? null : DASHES,
  };
}

// A stroke of the line's colour, to stand before its name.
export function swatch(index) {
  const {property, dashes} = lookOf(index);
  return h('i', {
    class: dashes ? 'swatch dashed' : 'swatch', 'aria-hidden': 'true',
    'data-line': property.slice(2),
  });
}

export function legend(names) {
  return names.map((name, i) => h('span', {class: 'key'}, swatch(i),
                                  titleOf(name)));
}

function sum(a, b) {
  if (!a || !b) return a || b;
  const both = {...a};
  for (const name of ['count', 'nan', 'pos_inf', 'neg_inf']) {
    if (b[name]) both[name] = (a[name] || 0) + b[name];
  }
  if (!b.count) return both;
  both.min = a.count ? Math.min(a.min, b.min) : b.min;
  both.max = a.count ? Math.max(a.max, b.max) : b.max;
  both.last = b.last;
  return both;
}

function joinedValues(a, b) {
  const both = {...a};
  for (const field of Object.keys(b)) both[field] = sum(a[field], b[field]);
  return both;
}

function join(a, b) {
  const names = new Set([a, b].flatMap((c) => Object.keys(c.optimizers)));
  return {
    ...a, last: b.last, records: a.records + b.records,
    overflows: a.overflows + b.overflows, skipped: a.skipped + b.skipped,
    values: joinedValues(a.values, b.values),
    optimizers: Object.fromEntries([...names].map((name) => [
      name, joinedValues(a.optimizers[name] || {}, b.optimizers[name] || {}),
    ])),
  };
}

// Optimizers that report the same step are seen together there.
export function stepByStep(buckets) {
  const joined = [];
  for (const bucket of buckets) {
    const before = joined[joined.length - 1];
    if (before && before.optimizers && bucket.optimizers &&
        before.first_step === bucket.first_step &&
        before.last_step === bucket.last_step) {
      joined[joined.length - 1] = join(before, bucket);
    } else {
      joined.push(bucket);
    }
  }
  return joined;
}
