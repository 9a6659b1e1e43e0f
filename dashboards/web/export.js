// What the charts show, to take away: as JSON from the API, or as CSV.

import {getJson} from './api.js';
import {h} from './dom.js';

const MOST = 10000;

function stepsPath(view) {
  const {window} = view.charts;
  const range = window ? `&from=${Math.round(window[0])}&to=` +
      Math.round(window[1]) : '';
  return `${view.path()}/steps?points=${MOST}&rank=${view.rank}${range}`;
}

function fileName(view, ending) {
  const run = view.where.run.replace(/[^\w.-]+/g, '_');
  return `${run}-attempt${view.run.attempt}-rank${view.rank}.${ending}`;
}

// A column a number of each field; of a bucket of one record they are equal.
// Empty: not collected.
export function csvOf(buckets) {
  const fields = [...new Set(buckets.flatMap((b) => Object.keys(b.values)))];
  const parts = ['min', 'max', 'last', 'nan', 'pos_inf', 'neg_inf'];
  const head = ['first_step', 'last_step', 'first', 'last', 'records',
                'overflows', 'skipped'];
  const lines = [[...head, ...fields.flatMap((f) =>
      parts.map((p) => `${f}_${p}`))].join()];
  for (const bucket of buckets) {
    lines.push([...head.map((name) => bucket[name]), ...fields.flatMap((f) => {
      const v = bucket.values[f];
      return parts.map((p) => (!v ? '' : p in v && v[p] !== null ? v[p] :
          p === 'min' || p === 'max' ? '' : 0));
    })].join());
  }
  return `${lines.join('\n')}\n`;
}

function download(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], {type}));
  h('a', {href: url, download: name}).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

async function saveCsv(view) {
  const {buckets} = await getJson(stepsPath(view));
  download(fileName(view, 'csv'), 'text/csv', csvOf(buckets));
}

async function saveJson(view) {
  const [run, steps] = await Promise.all(
      [getJson(view.path()), getJson(stepsPath(view))]);
  download(fileName(view, 'json'), 'application/json',
           JSON.stringify({run, steps}, null, 1));
}

export function exportTools(view) {
  const button = (name, title, save) => h('button', {
    'data-key': `export ${name}`, class: 'quiet', title, onclick: () =>
        save(view).catch((e) => view.context.told('lost', e)),
  }, name);
  return [
    button('CSV', 'The steps that the charts show', saveCsv),
    button('JSON', 'The run, and the steps that the charts show', saveJson),
  ];
}
