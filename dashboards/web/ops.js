// Ops: what was bad, where it began first, and when in the run each was bad, as
// a map of op by step. A run with nothing bad has no map.

import {getJson} from './api.js';
import {fill, h} from './dom.js';
import {count} from './format.js';
import {OpsMap} from './ops_map.js';
import {OpsTable} from './ops_table.js';

const STATUSES = 4000;
const MOST = 50;  // ops that the daemon lists

export class Ops {
  // `owner`: {run, path(), rank, charts, show(step)}.
  constructor(owner) {
    this.owner = owner;
    this.table = new OpsTable(owner);
    this.map = new OpsMap(owner);
    this.problem = h('p', {class: 'note'});
    this.head = h('h2', {}, 'Ops');
    this.element = h('section', {id: 'ops', tabindex: -1, hidden: true},
        this.head, this.table.element, this.map.element, this.problem);
    this.seen = new IntersectionObserver((entries) => {
      this.visible = entries.some((e) => e.isIntersecting);
      this.load();
    }, {rootMargin: '200px'});
    this.seen.observe(this.element);
  }

  stop() {
    this.seen.disconnect();
    this.map.stop();
  }

  draw(run) {
    const bad = (run.ops || []).length;
    const seen = run.totals ? run.totals.op_statuses : 0;
    this.element.hidden = bad === 0 && !seen;
    fill(this.head, 'Ops ', h('span', {class: 'note'}, bad ?
        `${bad < MOST ? '' : 'at least '}${count(bad)} ` +
        (bad === 1 ? 'was' : 'were') + ' bad' :
        `none was bad in ${count(seen)} statuses`));
    this.table.draw(run);
  }

  // What is asked for: the tensors that are known to be bad now, where the
  // charts are.
  wanted() {
    const {run, rank, charts} = this.owner;
    if (!this.visible || !run || !(run.ops || []).length || !charts.loaded()) {
      return null;
    }
    const newest = Math.max(...run.ops.map((op) => op.last_bad_step));
    return [rank, run.ops.length, newest, ...charts.shown().map(Math.round)];
  }

  async load() {
    const wanted = this.wanted();
    if (!wanted || this.loading || String(wanted) === this.loaded) return;
    this.loading = true;
    const {run} = this.owner;
    const [from, to] = wanted.slice(3);
    try {
      const path = `${this.owner.path()}/ops?rank=${this.owner.rank}` +
          `&points=${STATUSES}`;
      const reply = await getJson(`${path}&bad=1&from=${from}&to=${to}`);
      const others = await this.others(path, run.ops);
      this.loaded = String(wanted);
      // The axis ends where the charts do, and begins where all was read.
      const since = reply.from === undefined ? from : Math.max(from, reply.from);
      this.map.draw(reply.statuses, since, to, [
        since > from && `Steps before ${count(since)} are not drawn.`, others,
      ].filter(Boolean).join(' '));
      this.problem.textContent = '';
    } catch (e) {
      this.problem.textContent = `${e.message} ${e.todo || ''}`;
    } finally {
      this.loading = false;
    }
  }

  // In words: what was clean in the update in which it began.
  async others(path, ops) {
    const step = Math.min(...ops.map((op) => op.first_bad_step));
    const {statuses} = await getJson(`${path}&from=${step}&to=${step}`);
    const tensors = (all) => new Set(all.map((s) => `${s.op}\n${s.slot}`));
    const bad = new Set(ops.map((op) => `${op.name}\n${op.slot}`));
    const clean = [...tensors(statuses)].filter((t) => !bad.has(t)).length;
    if (!clean) return '';
    const least = statuses.length < STATUSES && ops.length < MOST ? '' :
                                                              'At least ';
    return clean === 1 ? '1 other tensor was never bad.' :
        `${least}${count(clean)} other tensors were never bad.`;
  }
}
