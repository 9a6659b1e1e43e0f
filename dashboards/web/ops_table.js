// Ops that were bad, as a table: where it began, and behind it, folded, what it
// was passed on to.

import {fill, h} from './dom.js';
import {count, value} from './format.js';

const SHOWN = 10;  // beginnings
const MOST = 50;   // ops that the daemon lists
const PASSES_ON_WITHIN = 1;  // steps: within an update, or by the weights

const keyOf = (op) => `${op.name} ${op.slot}`;

// What is bad in its padding alone passes nothing on.
const isPadding = (op) => op.padding_elements > 0 &&
    op.bad_elements <= op.padding_elements;

// [[beginning, op behind it, ...]], in the order in which they come. An op is
// behind one that began to be bad in the same update. `origin` is where the
// diagnosis says that it began.
export function groupsOf(ops, origin) {
  const groups = [];
  for (const op of ops) {
    const after = (group) => {
      const late = op.first_bad_step - group[0].first_bad_step;
      return late >= 0 && late <= PASSES_ON_WITHIN;
    };
    const group = !isPadding(op) &&
        groups.find((g) => !isPadding(g[0]) && after(g));
    if (group) {
      group.push(op);
    } else {
      groups.push([op]);
    }
  }
  const isOrigin = (op) => origin && op.name === origin.op &&
      op.slot === origin.slot;
  const first = (a, b) => isOrigin(b) - isOrigin(a);
  for (const group of groups) group.sort(first);
  return groups.sort((a, b) => first(a[0], b[0]));
}

// A long name breaks where its parts begin.
const inParts = (name) => name.split(/(?<=[./])/).map((part) =>
    [part, h('wbr')]);

export class OpsTable {
  // `owner`: {show(step)}.
  constructor(owner) {
    this.owner = owner;
    this.limit = SHOWN;
    this.unfolded = new Set();
    this.element = h('div', {class: 'scroll'});
  }

  draw(run) {
    this.run = run;
    const ops = run.ops || [];
    const [cause] = run.causes || [];
    const groups = groupsOf(ops, cause && cause.origin);
    const columns = this.columnsOf(ops);
    fill(this.element, ops.length > 0 && h('table', {},
        h('thead', {}, h('tr', {}, columns.map(([name, , kind]) =>
            h('th', {scope: 'col', class: kind}, name)))),
        h('tbody', {}, groups.slice(0, this.limit).map((group, i) =>
            this.rows(group, columns, i)))),
        groups.length > this.limit && h('button', {
          class: 'more', 'data-key': 'more ops', onclick: () => {
            this.limit = MOST;
            this.draw(this.run);
          },
        }, `${count(groups.length - this.limit)} more`));
  }

  rows(group, columns, at) {
    const [first, ...behind] = group;
    const cells = (op) => columns.map(([, cell, kind]) =>
        h('td', {class: kind}, cell(op)));
    const key = keyOf(first);
    const open = this.unfolded.has(key);
    return [
      h('tr', {class: 'origin'}, cells(first)),
      behind.length > 0 && h('tr', {class: 'fold'},
          h('td', {colspan: columns.length}, h('button', {
            class: 'link', 'data-key': `behind ${key}`,
            'aria-expanded': String(open), onclick: () => this.turn(key),
          }, this.sayBehind(behind.length, at, open)))),
      open && behind.map((op) => h('tr', {class: 'behind'}, cells(op))),
    ];
  }

  sayBehind(behind, at, open) {
    const more = at === 0 && this.run.ops.length >= MOST ? ' or more' : '';
    return `${open ? '▾' : '▸'} and ${count(behind)}${more} behind it`;
  }

  turn(key) {
    if (!this.unfolded.delete(key)) this.unfolded.add(key);
    this.draw(this.run);
  }

  columnsOf(known) {
    const step = (op, s) => h('button', {
      class: 'link', 'data-key': `op ${keyOf(op)} ${s}`,
      onclick: () => this.owner.show(s)}, count(s));
    return [
      ['Op', (op) => [inParts(op.name), ' ', !op.name.endsWith(op.type) &&
                      h('span', {class: 'note'}, op.type)], 'name'],
      ['Tensor', (op) => op.slot.replace('_', ' '), 'minor'],
      ['Bad', (op) => `${count(op.bad_statuses)} ` +
          (op.bad_statuses === 1 ? 'time' : 'times'), 'number'],
      ['First', (op) => step(op, op.first_bad_step), 'number'],
      ['Last', (op) => step(op, op.last_bad_step), 'number minor'],
      ['Bad elements', (op) => [count(op.bad_elements),
          op.padding_elements > 0 && h('span', {class: 'note'},
              ` (${count(op.padding_elements)} padding)`)], 'number minor'],
      known.some((op) => 'abs_max' in op) &&
          ['Largest finite', (op) => ('abs_max' in op ? value(op.abs_max) : ''),
           'number minor'],
      this.run.world_size > 1 &&
          ['Rank', (op) => (op.rank < 0 ? '' : String(op.rank)), 'number'],
    ].filter(Boolean);
  }
}
