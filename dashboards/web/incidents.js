// Incidents: what was told, when, of whom; and what people said to it.

import {annotateDialog, commandOf} from './annotate.js';
import {fill, h, mark, SEVERITY_WORD} from './dom.js';
import {ago, clock, count, duration, fullTime, placeIn, value, words}
    from './format.js';
import {seenTo, standingOf, stoodAtEnd} from './state.js';

const SHOWN = 50;

function steps(incident) {
  const from = count(incident.opened_step);
  if (stoodAtEnd(incident)) return `${from} to the end`;
  if (incident.resolved_step === null) return `from ${from} on`;
  return incident.resolved_step === incident.opened_step ? from :
      `${from} to ${count(incident.resolved_step)}`;
}

function times(incident) {
  const begun = h('time', {title: fullTime(incident.opened)},
                  clock(incident.opened));
  if (incident.resolved === null) return [begun, `, ${ago(incident.opened)}`];
  const lasted = duration(incident.resolved - incident.opened);
  return [begun, stoodAtEnd(incident) ? `, ${lasted} before the end` :
                                        `, for ${lasted}`];
}

// "2 open of 3", "2, open at the end", "3, 1 of them open at the end", "3, all
// over".
function summary(incidents) {
  const all = incidents.length;
  const open = incidents.filter((i) => i.state !== 'resolved').length;
  if (open) return `${open} open of ${all}`;
  const stood = incidents.filter(stoodAtEnd).length;
  if (!stood) return `${all}, ${all > 1 ? 'all over' : 'over'}`;
  return `${all}, ${stood < all ? `${stood} of them ` : ''}open at the end`;
}

// Those of one op and tensor that stand alike are one fault: the others follow
// the first of them. [[incident, whether another one stands for it]].
export function byOrigin(incidents) {
  const groups = new Map();
  for (const incident of incidents) {
    const {op, slot} = incident.subject;
    const key = op ? [op, slot, standingOf(incident).word].join('\n') :
                     incident.id;
    groups.set(key, [...(groups.get(key) || []), incident]);
  }
  return [...groups.values()].flatMap((group) =>
      group.map((incident, i) => [incident, i > 0]));
}

function finding(run, f) {
  return h('li', {}, mark(f.severity),
      h('div', {}, h('p', {}, f.sentence),
        h('p', {class: 'note'}, h('code', {title: `nanwatch explain ${
            f.rule.name}`}, f.rule.name || `rule ${f.rule.number}`),
          ` · step ${count(f.opened_step)} to ${count(f.last_step)}`,
          placeIn(run, f.subject) && ` · ${placeIn(run, f.subject)}`),
        f.numbers.length > 0 && h('dl', {class: 'numbers'},
            f.numbers.map((n) => h('div', {},
                h('dt', {}, n.name.replace(/_/g, ' ')),
                h('dd', {}, value(n.value), n.unit && n.unit !== n.name &&
                    h('span', {class: 'note'}, ` ${n.unit}`)))))));
}

// Where it began first, then as it went on.
function inOrder(incident) {
  const {op, slot} = incident.subject;
  const isOrigin = (f) => Boolean(op) && f.subject.op === op &&
      f.subject.slot === slot;
  return [...incident.findings].sort((a, b) => isOrigin(b) - isOrigin(a) ||
                                               a.opened_step - b.opened_step);
}

export class Incidents {
  // `owner`: {run, show(step), status, changed()}.
  constructor(owner) {
    this.owner = owner;
    this.incidents = [];
    this.selected = null;
    this.limit = SHOWN;
    this.list = h('ul', {class: 'incidents'});
    this.head = h('h2', {}, 'Incidents');
    this.element = h('section', {id: 'incidents', hidden: true}, this.head,
                     this.list);
  }

  draw(incidents) {
    this.incidents = incidents;
    this.element.hidden = incidents.length === 0;
    const ordered = byOrigin(incidents);
    const same = ordered.filter(([, follows]) => follows).length;
    fill(this.head, 'Incidents ', h('span', {class: 'note'},
        summary(incidents), same > 0 && `; ${count(incidents.length - same)} ` +
            (incidents.length - same > 1 ? 'faults' : 'fault')));
    fill(this.list, ordered.slice(0, this.limit).map((i) => this.item(...i)),
        incidents.length > this.limit && h('li', {}, h('button', {
          'data-key': 'more incidents', onclick: () => {
            this.limit += SHOWN;
            this.draw(this.incidents);
          },
        }, `${count(incidents.length - this.limit)} more`)));
  }

  // `follows`: another one stands for it.
  item(incident, follows) {
    const {word, look} = standingOf(incident);
    const seen = seenTo(this.owner.run, incident);
    const where = placeIn(this.owner.run, incident.subject);
    const said = [
      incident.acknowledged_by && `acknowledged by ${incident.acknowledged_by}`,
      incident.muted && 'muted',
      incident.reopened > 0 && `came back ${incident.reopened} times`,
    ].filter(Boolean);
    return h('li', {class: `incident ${look}${follows ? ' follows' : ''}`,
                    id: `incident-${incident.id}`},
        h('details', {'data-key': `incident ${incident.id}`},
          h('summary', {'data-key': `summary ${incident.id}`, 'data-incident':
                incident.id},
            mark(incident.worst_severity),
            h('span', {class: 'what'},
              h('b', {}, words(SEVERITY_WORD[incident.worst_severity]), ', ',
                word), ' ', follows && h('span', {class: 'note'},
                                         'from the same op: '),
              incident.summary),
            h('span', {class: 'note'}, 'steps ', steps(incident),
              seen !== null && `, seen up to ${count(seen)}`, ' · ',
              times(incident), where && ` · ${where}`,
              incident.host && ` · ${incident.host}`,
              said.map((s) => [' · ', h('b', {}, s)]))),
          h('div', {class: 'findings'},
            h('ul', {}, inOrder(incident).map((f) =>
                finding(this.owner.run, f))),
            incident.findings_total > incident.findings.length &&
                h('p', {class: 'note'}, `${incident.findings_total -
                    incident.findings.length} more findings`))),
        h('div', {class: 'buttons'},
          h('button', {'data-key': `show ${incident.id}`, onclick: () =>
              this.owner.show(incident.opened_step)}, 'On the charts'),
          this.says(incident)));
  }

  // To the one that stands first, while it is not over.
  saysToFirst() {
    const [first] = this.incidents;
    return first && first.state !== 'resolved' &&
        this.maySay() ? this.says(first) : null;
  }

  // The daemon takes it from a page, and of a run of this owner.
  maySay() {
    return this.owner.status.annotations && this.owner.run.annotations;
  }

  // Something can be said to an incident of a run that is there.
  says(incident) {
    if (!this.owner.run.severity || this.owner.run.state === 'closed') {
      return null;
    }
    if (!this.maySay()) {
      return h('span', {class: 'note'},
          !this.owner.run.annotations && `As ${this.owner.run.owner}: `,
          h('code', {}, commandOf(this.owner.run, incident)));
    }
    const say = (kind) => annotateDialog(
        this.owner.run, incident, kind, this.owner.status.user,
        () => this.owner.changed());
    return [
      !incident.acknowledged_by && incident.state !== 'resolved' &&
          h('button', {'data-key': `ack ${incident.id}`, onclick: () =>
              say('acknowledge')}, 'Acknowledge'),
      incident.muted ?
          h('button', {'data-key': `mute ${incident.id}`, onclick: () =>
              say('unmute')}, 'Unmute') :
          h('button', {'data-key': `mute ${incident.id}`, onclick: () =>
              say('mute')}, 'Mute'),
    ];
  }

  summaries() {
    return [...this.list.querySelectorAll('summary[data-incident]')];
  }

  show(id) {
    const found = this.summaries().find((s) => s.dataset.incident === id);
    if (!found) return;
    found.parentElement.open = true;
    found.focus();
    found.scrollIntoView({block: 'center'});
  }

  key(event) {
    const all = this.summaries();
    const at = all.indexOf(document.activeElement);
    if (event.key === 'j' && all.length) {
      all[Math.min(all.length - 1, at + 1)].focus();
    } else if (event.key === 'k' && all.length) {
      all[Math.max(0, at - 1)].focus();
    } else if (event.key === 'a' || event.key === 'm') {
      const chosen = at < 0 ? all[0] : all[at];
      if (!chosen) return false;
      const name = event.key === 'a' ? 'ack' : 'mute';
      const button = this.list.querySelector(
          `[data-key="${name} ${chosen.dataset.incident}"]`);
      if (!button) return false;
      button.click();
    } else {
      return false;
    }
    return true;
  }
}
