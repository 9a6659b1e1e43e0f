// All runs, worst first: which one needs somebody.

import {getJson, watch} from './api.js';
import {fill, h, mark} from './dom.js';
import {ago, count, fullTime, value} from './format.js';
import {Sparks} from './spark.js';
import {clauses, stateOf} from './state.js';

const RANK = {none: 0, info: 1, warning: 2, critical: 3};
const SHOWN = 200;
const MANY = 1000;
const MANY_EVERY_MS = 10000;

const END_SHOWN = 60;  // characters

// How a run that is not open came to its end.
function endOf(run) {
  const by = run.ended_by;
  if (!by) return run.state === 'closed' ? 'ended' : run.state;
  const words = by.length > END_SHOWN ? by.slice(0, END_SHOWN) + '…' : by;
  return `ended by ${words}`;
}

const open = (run) => run.state !== 'closed';

// Whether a person can still help: it reports, and what is worth a warning is
// neither over nor the end of the run.
const needsPerson = (run) => run.state === 'open' &&
    run.condition !== 'healed' && RANK[run.health_severity] >= 2;

function worstFirst(a, b) {
  return needsPerson(b) - needsPerson(a) || open(b) - open(a) ||
      RANK[b.health_severity] - RANK[a.health_severity] ||
      (b.last_record || b.opened) - (a.last_record || a.opened) ||
      a.run_id.localeCompare(b.run_id);
}

export class RunsView {
  constructor(root, context) {
    this.context = context;
    this.runs = null;
    this.ended = false;
    this.limit = SHOWN;
    this.sparks = new Sparks(() => this.draw());
    context.crumbs();
    document.title = 'nanwatch';
    this.find = h('input', {
      type: 'search', placeholder: 'Find a run or job', 'aria-label':
          'Find a run or job', oninput: () => this.draw(),
    });
    this.box = h('input', {
      type: 'checkbox', onchange: () => this.showEnded(),
    });
    this.sentence = h('h1', {class: 'sentence'}, '\u00a0');
    this.table = h('div', {class: 'runs'});
    root.append(
        h('div', {class: 'head'}, this.sentence,
          h('div', {class: 'tools'}, this.find,
            h('label', {}, this.box, ' ended runs too'))),
        this.table);
    this.watch = watch('', () => this.load(), context.told);
    this.clock = setInterval(() => this.runs && this.draw(), 10000);
  }

  stop() {
    this.stopped = true;
    this.watch.stop();
    this.sparks.stop();
    clearInterval(this.clock);
  }

  redraw() {
    this.draw();
  }

  // As the box says.
  showEnded() {
    this.ended = this.box.checked;
    this.asked = 0;
    this.draw();
    this.watch.now();
  }

  async load() {
    // Thousands of runs are megabytes: those need not come every second.
    if (this.runs && this.runs.length > MANY &&
        Date.now() - this.asked < MANY_EVERY_MS) {
      return;
    }
    this.asked = Date.now();
    let {runs} = await getJson('/api/v1/runs' + (this.ended ? '?ended=1' : ''));
    // Nothing runs: what ran last is of more use than nothing.
    if (!runs.length) ({runs} = await getJson('/api/v1/runs?ended=1'));
    if (runs === this.runs || this.stopped) return;
    this.runs = runs;
    this.draw();
  }

  // Those of the table before a word is looked for: where none goes on, those
  // that ended.
  listed() {
    const live = this.runs.filter(open);
    return this.ended || !live.length ? this.runs : live;
  }

  shown() {
    const text = this.find.value.trim().toLowerCase();
    return this.listed()
        .filter((r) => !text || r.run_id.toLowerCase().includes(text) ||
                (r.job || '').toLowerCase().includes(text))
        .sort(worstFirst);
  }

  draw() {
    if (!this.runs) return;
    const runs = this.shown();
    this.sentence.textContent = this.inOneSentence();
    const sick = this.runs.filter(needsPerson);
    document.title = (sick.length ? `(${sick.length}) ` : '') + 'nanwatch';
    if (!this.runs.length) {
      fill(this.table, h('p', {class: 'note'},
          'No run has reported yet. Point a training at this daemon; this ' +
          'page shows it as it comes.'));
      return;
    }
    const scaled = this.runs.some((r) => r.values && r.values.loss_scale);
    const several = this.runs.some((r) => r.world_size > 1);
    fill(this.table,
        h('table', {class: 'list'},
          h('thead', {}, h('tr', {},
            h('th', {scope: 'col'}, 'Run'), h('th', {scope: 'col'}, 'Verdict'),
            h('th', {scope: 'col', class: 'spark-key'},
              h('span', {class: 'loss'}, 'loss'),
              scaled && h('span', {class: 'scale'}, 'scale')),
            ['Step', 'Loss', scaled && 'Loss scale', several && 'Ranks',
             'Last record']
                .filter(Boolean).map((name) =>
                  h('th', {scope: 'col', class: 'number'}, name)))),
          h('tbody', {},
            runs.slice(0, this.limit).map((r) =>
                this.row(r, scaled, several)))),
        runs.length > this.limit &&
            h('button', {class: 'more', onclick: () => {
              this.limit += SHOWN;
              this.draw();
            }}, `${count(runs.length - this.limit)} more`),
        this.listed().length < this.runs.length &&
            h('button', {class: 'more', 'data-key': 'ended', onclick: () => {
              this.box.checked = true;
              this.showEnded();
            }}, this.sayEnded()));
    const rows = this.table.querySelectorAll('tbody tr');
    this.sparks.look([...rows].map((row, i) => [row, runs[i]]));
  }

  // Of those that are not listed.
  sayEnded() {
    const ended = this.runs.filter((r) => !open(r));
    const sick = ended.filter((r) => RANK[r.health_severity] >= 2).length;
    return `${count(ended.length)} that ended a short time ago` +
        (sick ? `, ${count(sick)} of them in trouble` : '');
  }

  // Counts what goes on, and says so where the table has more.
  inOneSentence() {
    const live = this.runs.filter(open);
    const sick = live.filter(needsPerson);
    if (!this.runs.length) return 'No runs yet';
    if (!live.length) return 'No run is open';
    const which = live.length < this.listed().length ? 'open run' : 'run';
    if (!sick.length && live.some((r) => RANK[r.health_severity] >= 2)) {
      return 'No run needs attention';
    }
    if (!sick.length) {
      return live.length === 1 ? `The ${which} is healthy` :
          `All ${count(live.length)} ${which}s are healthy`;
    }
    if (live.length === 1) return `The ${which} needs attention`;
    return `${count(sick.length)} of ${count(live.length)} ${which}s ` +
        (sick.length === 1 ? 'needs' : 'need') + ' attention';
  }

  row(run, scaled, several) {
    const {word, severity} = stateOf(run);
    const known = run.severity !== undefined;
    const href = `/?run=${encodeURIComponent(run.run_id)}&attempt=` +
        run.attempt;
    const key = `${run.run_id}/${run.attempt}`;
    const values = run.values || {};
    const scaleNow = values.loss_scale ? value(values.loss_scale.last) : '';
    const loss = values.loss ? value(values.loss.last) : '';
    const [what, why] = clauses(run);
    return h('tr', {class: `${severity} ${run.state}`},
        h('td', {class: 'run'},
          h('a', {href, 'data-key': key, 'data-row': true}, run.run_id),
          h('span', {class: 'note'}, [
            !run.run_id.startsWith(run.job) && run.job,
            run.attempt > 0 && `attempt ${run.attempt}`,
            run.owner,
            run.state !== 'open' && endOf(run),
          ].filter(Boolean).join(' · '))),
        h('td', {class: 'verdict'}, mark(severity),
          h('span', {}, h('b', {}, word), ' ',
            known ? what : 'Open it to judge it again.',
            why && h('span', {class: 'note'}, ' ' + why))),
        h('td', {class: 'spark-cell'}, this.sparks.of(run)),
        h('td', {class: 'number', 'data-name': 'step'}, count(run.last_step)),
        h('td', {class: 'number' + (loss === 'NaN' ? ' bad' : ''),
                 'data-name': 'loss'}, loss),
        scaled && h('td', {class: 'number', 'data-name': 'scale'}, scaleNow),
        several && h('td', {class: 'number', 'data-name': 'ranks'},
          known && run.world_size ?
              (run.ranks_lost ? `${count(run.ranks_open)} of ` : '') +
              count(run.world_size) : count(run.world_size || null)),
        h('td', {class: 'number', 'data-name': 'last record'},
          run.last_record || run.ended ?
              h('time', {title: fullTime(run.last_record || run.ended)},
                ago(run.last_record || run.ended)) : ''));
  }

  key(event) {
    const rows = [...this.table.querySelectorAll('[data-row]')];
    const at = rows.indexOf(document.activeElement);
    if (event.key === '/') {
      this.find.focus();
    } else if (event.key === 'j' && rows.length) {
      rows[Math.min(rows.length - 1, at + 1)].focus();
    } else if (event.key === 'k' && rows.length) {
      rows[Math.max(0, at < 0 ? 0 : at - 1)].focus();
    } else {
      return false;
    }
    return true;
  }
}
