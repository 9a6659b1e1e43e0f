// Ops: what was bad, where it began first, and when in the run each was bad, as
// a map of op by step. A run with nothing bad has no map.

import {getJson} from './api.js';
import {fill, h} from './dom.js';
import {count} from './format.js';
import {badElements, OpsMap} from './ops_map.js';
import {OpsTable} from './ops_table.js';

const STATUSES = 4000;
const MOST = 50;  // ops that the daemon lists
const EVERY_MS = 10000;  // while it goes on

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
        `none was bad in ${count(seen)} statuses${this.sayUntil(run)}`));
    this.table.draw(run);
    if (!bad && seen) this.askUntil(run);
  }

  // Where they ceased before the run did, what came later was not looked at.
  sayUntil(run) {
    return this.until !== undefined && this.until < run.last_step ?
        `, the last of them at step ${count(this.until)}` : '';
  }

  async askUntil(run) {
    const {rank} = this.owner;
    const at = `${rank} ${run.last_step}`;
    if (this.asking || at === this.untilAt ||
        Date.now() - (this.untilAsked || 0) < EVERY_MS) return;
    this.asking = true;
    this.untilAsked = Date.now();
    try {
      const {statuses: [newest]} = await getJson(
          `${this.owner.path()}/ops?rank=${rank}&points=1`);
      this.untilAt = at;
      this.until = newest && newest.step;
      this.draw(run);
    } catch (e) {
      // How many there were is said without it.
    } finally {
      this.asking = false;
    }
  }

  // What is asked for: the tensors that are known to be bad now, where the
  // charts are.
  wanted() {
    const {run, rank, charts} = this.owner;
    if (!this.visible || !run || !(run.ops || []).length || !charts.loaded()) {
      return null;
    }
    return {
      place: String([rank, run.ops.length, charts.window]),
      newest: Math.max(...run.ops.map((op) => op.last_bad_step)),
      range: charts.shown().map(Math.round),
    };
  }

  async load() {
    const wanted = this.wanted();
    if (!wanted || this.loading) return;
    if (wanted.place === this.place && (wanted.newest === this.newest ||
        Date.now() - this.asked < EVERY_MS)) {
      return;
    }
    this.loading = true;
    this.asked = Date.now();
    const {run} = this.owner;
    const [from, to] = wanted.range;
    try {
      const path = `${this.owner.path()}/ops?rank=${this.owner.rank}` +
          `&points=${STATUSES}`;
      const reply = await getJson(`${path}&bad=1&from=${from}&to=${to}`);
      const others = await this.others(path, run.ops);
      this.place = wanted.place;
      this.newest = wanted.newest;
      // The axis ends where the charts do, and begins where all was read.
      const since = reply.from === undefined ? from : Math.max(from, reply.from);
      this.map.draw(reply.statuses, since, to, [
        since > from && `Steps before ${count(since)} are not drawn.`, others,
      ].filter(Boolean).join(' '));
      this.problem.textContent = '';
      setTimeout(() => this.load());  // where the charts moved meanwhile
    } catch (e) {
      this.problem.textContent = `${e.message} ${e.todo || ''}`;
    } finally {
      this.loading = false;
    }
  }

  // In words: how many others there are. Beyond what the daemon lists nobody
  // knows whether they were bad at another step.
  async others(path, ops) {
    const step = Math.min(...ops.map((op) => op.first_bad_step));
    const {statuses} = await getJson(`${path}&from=${step}&to=${step}`);
    const nameOf = (op, slot) => `${op}\n${slot}`;
    const bad = new Set(ops.map((op) => nameOf(op.name, op.slot)));
    const clean = new Set(statuses.filter((s) => badElements(s) === 0)
                              .map((s) => nameOf(s.op, s.slot))
                              .filter((name) => !bad.has(name))).size;
    if (!clean) return '';
    const least = statuses.length < STATUSES ? '' : 'At least ';
    const [noun, were] = clean === 1 ? ['tensor', 'was'] : ['tensors', 'were'];
    return `${least}${count(clean)} other ${noun} ${were} ` +
        (ops.length < MOST ? 'never bad.' : `clean at step ${count(step)}.`);
  }
}
