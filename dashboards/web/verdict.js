// The first answer: healthy or not; if not, why, since when, what to do.

import {fill, h, mark} from './dom.js';
import {ago, clock, count, framework, fullTime, placeIn, podText, scale, share,
        value, words} from './format.js';
import {clauses, lifeOf, seenTo, stateOf} from './state.js';

const MOST_FOUND = 3;  // sentences

function when(seconds) {
  return h('time', {title: fullTime(seconds)},
           `${clock(seconds)}, ${ago(seconds)}`);
}

// The incident that tells of the first cause.
function incidentOf(run) {
  const cause = run.causes && run.causes[0];
  const all = run.incidents || [];
  return (cause && all.find((i) => i.cause === cause.cause)) || all[0] || null;
}

// When it was seen first: of what is over, or is no trouble, it says so.
function sinceLine(run, fine, show) {
  const cause = run.causes && run.causes[0];
  const incident = incidentOf(run);
  if (!cause && !incident) return null;
  const step = cause ? cause.step : incident.opened_step;
  const origin = cause ? cause.origin : incident.subject;
  const where = placeIn(run, origin);
  const seen = incident ? seenTo(run, incident) : null;
  const host = incident &&
      [incident.host, incident.device, podText(incident.pod)].filter(Boolean)
          .join(', ');
  return h('p', {class: 'since'},
      h('span', {class: 'label'}, fine ? 'Noted since ' :
          run.condition === 'healed' ? 'Began at ' : 'Since '),
      h('button', {class: 'link', 'data-key': 'since',
                   title: 'Show this step on the charts',
                   onclick: () => show(step)}, `step ${count(step)}`),
      incident && [' · ', when(incident.opened)],
      seen !== null &&
          h('span', {class: 'label', title:
              'Sentences are made anew every few updates'},
            ` · verdict as of step ${count(seen)} or later`),
      where && [h('span', {class: 'label'}, ' · first seen at '),
                h('span', {class: 'name'}, where)],
      host && run.world_size > 1 && h('span', {class: 'label'}, ` on ${host}`));
}

// Those for any framework, then those of the run's own, or of what that is built
// on: the daemon has chosen them. Of a run of none that is known they are of
// others.
function actionsOf(cause, own) {
  const any = cause.actions.filter((a) => !a.framework);
  const named = cause.actions.filter((a) => a.framework);
  return own ? [[...any, ...named], []] : [any, named];
}

function actionItem(action) {
  return h('li', {}, action.framework &&
      h('span', {class: 'tag'}, framework(action.framework)),
      action.framework && ' ', action.sentence);
}

function actions(cause, own, key) {
  const [first, others] = actionsOf(cause, own);
  if (!first.length && !others.length) return null;
  return h('section', {class: 'do'}, h('h2', {}, 'What to do'),
      h('ol', {}, (first.length ? first : others).map(actionItem)),
      first.length > 0 && others.length > 0 &&
          h('details', {'data-key': `others ${key}`},
            h('summary', {}, 'With other frameworks'),
            h('ul', {}, others.map(actionItem))));
}

// What the cause rests on. Where its sentence says all of that, what else was
// found of the same trouble.
function groundsOf(run, cause) {
  if (cause.evidence.length) return cause.evidence;
  const found = (run.incidents || []).filter((i) => i.cause === cause.cause)
      .flatMap((i) => i.findings).filter((f) => f.in_summary === 'not');
  return found.slice(0, MOST_FOUND).map(
      (f) => ({grade: 'established', sentence: f.sentence}));
}

// What no cause explains is called after the rules that found it.
function nameOf({cause, rules = []}) {
  return words(
      cause === 'unexplained' ? rules.map((r) => r.name).join(', ') : cause);
}

function headingOf(cause) {
  const name = nameOf(cause);
  return cause.cause === 'unexplained' ? name : `${name} (${cause.grade})`;
}

function evidence(run, cause, said) {
  const grounds = groundsOf(run, cause);
  if (said && !grounds.length) return null;
  return h('section', {class: 'why'},
      h('h2', {}, 'Why ', h('span', {class: 'tag'}, headingOf(cause))),
      !said && h('p', {}, cause.sentence),
      h('ul', {class: 'evidence'}, grounds.map((e) =>
          h('li', {class: e.grade, title: e.grade}, e.sentence,
            e.grade !== cause.grade &&
                h('span', {class: 'note'}, ` (${e.grade})`)))));
}

// Of a healthy run nothing needs to be done: what was seen is folded in.
function otherCauses(run, aside) {
  const rest = (run.causes || []).slice(aside ? 0 : 1);
  if (!rest.length) return null;
  const title = aside ?
      `Seen, and harmless: ${rest.map(nameOf).join(', ')}` :
      [rest.length === 1 ? '1 more cause: ' : `${rest.length} more causes: `,
       rest.map(nameOf).join(', '),
       rest.length === 1 && h('span', {class: 'said'}, ' ', rest[0].sentence)];
  return h('details', {class: 'causes', 'data-key': 'causes'},
      h('summary', {}, title),
      rest.map((cause, i) => h('div', {class: 'cause'},
          (aside || rest.length > 1) &&
              h('p', {}, mark(cause.severity_ceiling), cause.sentence),
          h('div', {class: 'columns'},
            actions(cause, run.description.framework, i + 1),
            evidence(run, cause, true)))));
}

export function drawVerdict(element, run, show, tools) {
  const {word, severity, fine} = stateOf(run);
  const cause = run.causes && run.causes[0];
  const [what, why] = clauses(run);
  const said = cause && run.headline_cause === 0;
  // Of a healthy run that its verdict says is healthy, all causes are asides.
  const aside = fine && !said;
  element.className = `verdict-block ${severity}`;
  fill(element,
      h('p', {class: 'state'}, mark(severity), h('b', {}, word),
        h('span', {class: 'note'}, lifeOf(run)), tools),
      h('h1', {}, what),
      why && h('p', {class: 'rest'}, why),
      run.severity === undefined && h('p', {}, 'This run ended long ago, and ' +
          'is too long to be judged again here: `nanwatch replay` does.'),
      !aside && sinceLine(run, fine, show),
      run.stop_requested && h('p', {class: 'note'},
                              `Asked to stop: ${run.stop_requested}`),
      cause && !aside && h('div', {class: 'columns'},
                 actions(cause, run.description.framework, 0),
                 evidence(run, cause, said)),
      otherCauses(run, aside));
}

function fact(name, text, note, bad) {
  if (text === '' || text === null || text === undefined) return null;
  return h('div', {class: bad ? 'bad' : null}, h('dt', {}, name),
           h('dd', {}, text, note && h('span', {class: 'note'}, ` ${note}`)));
}

function measured(run, field, name, format) {
  const v = run.values && run.values[field];
  if (!v) return null;
  const text = format(v.last);
  const bad = typeof v.last === 'string';
  const note = bad && v.last_finite !== null ? `was ${format(v.last_finite)}` :
      v.nonfinite ? `${count(v.nonfinite)} not finite` : '';
  return fact(name, text, note, bad);
}

// How many there are; of one that trains alone, where.
function ranks(run) {
  const lost = run.ranks_lost > 0;
  const note = lost ? `${count(run.ranks_lost)} lost` : '';
  if (run.world_size > 1) {
    const open = run.state === 'open' && run.ranks_open !== undefined &&
        run.ranks_open < run.world_size;
    return fact('Ranks', (open ? `${count(run.ranks_open)} of ` : '') +
                count(run.world_size), note, lost);
  }
  const [rank] = run.ranks || [];
  return rank && fact('On', [rank.host, rank.device, rank.device_id]
                                .filter(Boolean).join(', '), note, lost);
}

export function drawFacts(element, run) {
  const totals = run.totals || {};
  const about = run.description || {};
  const scaler = run.scaler || {};
  fill(element, fact('Step', count(run.last_step),
                     run.judged_since_step > 0 &&
                         `judged since ${count(run.judged_since_step)}`),
      totals.skipped !== undefined &&
          fact('Skipped', share(totals.skipped, totals.steps) || '0 %',
               `${count(totals.skipped)} of ${count(totals.steps)}`,
               totals.skipped > 0.5 * totals.steps),
      measured(run, 'loss', 'Loss', value),
      measured(run, 'loss_scale', 'Loss scale', scale),
      measured(run, 'grad_norm', 'Gradient norm', value),
      measured(run, 'learning_rate', 'Learning rate', value),
      scaler.updates_to_floor !== null &&
          scaler.updates_to_floor !== undefined &&
          fact('Scale at its floor', `in ${count(scaler.updates_to_floor)}`,
               'updates', true),
      ranks(run),
      fact('Trained with', [framework(about.framework || ''), about.precision]
                               .filter(Boolean).join(', ')),
      run.owner && fact('Owner', run.owner),
      totals.dropped_steps > 0 &&
          fact('Records dropped', count(totals.dropped_steps), '', true));
}
