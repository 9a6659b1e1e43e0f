// One run: the verdict, then what it rests on.

import {getJson, runPath, watch} from './api.js';
import {Attempts} from './attempts.js';
import {Charts} from './charts.js';
import {compareAddress} from './compare_view.js';
import {fill, h} from './dom.js';
import {exportTools} from './export.js';
import {Incidents} from './incidents.js';
import {LayerScales} from './layer_scales.js';
import {Ops} from './ops.js';
import {Ranks} from './ranks.js';
import {stateOf} from './state.js';
import {drawFacts, drawVerdict} from './verdict.js';

// Records come by the second; pictures of them need not.
const CHARTS_EVERY_MS = 3000;
const ASK_AGAIN_MS = 4000;  // for charts that could not be had

// The one that the trouble is of; else the lowest.
function rankToShow(run) {
  const [cause] = run.causes || [];
  const [incident] = run.incidents || [];
  const named = [cause && cause.origin.rank, incident && incident.subject.rank,
                 run.ranks && run.ranks.length && run.ranks[0].rank];
  return named.find((rank) => typeof rank === 'number') || 0;
}

export class RunView {
  constructor(root, where, context) {
    this.where = where;
    this.context = context;
    this.rank = where.rank === null ? 0 : where.rank;
    this.run = null;
    this.drawn = 0;
    this.lacks = false;  // charts that could not be had
    this.status = context.status;
    document.title = `${where.run} - nanwatch`;
    context.crumbs(h('span', {class: 'name'}, where.run),
                   where.attempt > 0 && `attempt ${where.attempt}`);
    this.verdict = h('section', {class: 'verdict-block'});
    this.facts = h('dl', {class: 'facts'});
    this.charts = new Charts(this, where);
    this.incidents = new Incidents(this);
    this.layers = new LayerScales(this);
    this.ops = new Ops(this);
    this.ranks = new Ranks(this);
    this.attempts = new Attempts(this);
    root.append(this.verdict, this.facts, this.charts.element,
                this.incidents.element, this.layers.element, this.ops.element,
                this.ranks.element, this.attempts.element);
    const query = `?run=${encodeURIComponent(where.run)}` +
        (where.attempt === null ? '' : `&attempt=${where.attempt}`);
    this.watch = watch(query, () => this.load(), context.told);
    this.clock = setInterval(() => this.run && this.drawHead(), 10000);
  }

  stop() {
    this.stopped = true;
    this.watch.stop();
    clearInterval(this.clock);
    this.charts.stop();
    this.ranks.stop();
    this.ops.stop();
  }

  path() {
    const attempt = this.run ? this.run.attempt : this.where.attempt;
    return runPath(this.where.run, attempt);
  }

  async load() {
    let run;
    try {
      run = await getJson(runPath(this.where.run, this.where.attempt) +
                          '?ranks=64');
    } catch (e) {
      if (e.status !== 404) throw e;
      fill(this.verdict, h('h1', {}, `There is no run ${this.where.run} here`),
           h('p', {class: 'note'}, e.todo));
      return;
    }
    if (this.stopped) return;
    const first = this.run === null;
    const another = first || run.attempt !== this.run.attempt;
    const same = run === this.run;
    this.run = run;
    if (first && this.where.rank === null) this.rank = rankToShow(run);
    if (!same) {
      this.redraw();
      this.ops.draw(run);
      this.ranks.draw(run);
      this.layers.load(another);
    }
    const late = Date.now() - this.drawn > CHARTS_EVERY_MS;
    if (another || (late && (!same || this.lacks))) {
      this.drawn = Date.now();
      this.lacks = !await this.charts.load();
      if (this.lacks) setTimeout(() => this.watch.now(), ASK_AGAIN_MS);
      this.ops.load();
    }
    this.charts.setIncidents(run.incidents || []);
    if (another) this.attempts.load();
  }

  redraw() {
    if (!this.run) return;
    this.incidents.draw(this.run.incidents || []);
    this.drawHead();
  }

  drawHead() {
    const {word, fine} = stateOf(this.run);
    const calm = fine || this.run.condition === 'healed';
    document.title = (calm ? '' : `${word}: `) +
        `${this.where.run} - nanwatch`;
    drawVerdict(this.verdict, this.run, (step) => this.show(step),
                h('span', {class: 'tools'}, this.incidents.saysToFirst(),
                  h('a', {href: compareAddress(this.where.run,
                                               this.where.attempt)},
                    'Compare'), exportTools(this)));
    drawFacts(this.facts, this.run);
  }

  show(step) {
    this.charts.showStep(step);
    this.remember({step});
  }

  incident(incident) {
    this.incidents.show(incident.id);
  }

  chooseRank(rank) {
    this.rank = rank;
    this.remember({rank});
    this.charts.load();
    this.ops.load();
    this.ranks.drawTable();
    this.charts.element.scrollIntoView({block: 'nearest'});
  }

  windowChanged() {
    this.ops.load();
  }

  remember(changes) {
    this.context.remember(changes);
  }

  changed() {
    this.watch.now();
  }

  key(event) {
    const section = {c: this.charts, o: this.ops, r: this.ranks}[event.key];
    if (section) {
      section.element.scrollIntoView({block: 'start'});
      section.element.focus({preventScroll: true});
      return true;
    }
    return this.charts.key(event) || this.incidents.key(event);
  }
}
