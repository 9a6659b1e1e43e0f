// What a run is called, and its verdict in sentences, so that the two agree: the
// word says what the headline's lead would.

import {ago, words} from './format.js';

const RANK = {none: 0, info: 1, warning: 2, critical: 3};
// By condition, while nothing worth a warning fires.
const WORDS = {
  no_step_yet: 'No step yet',
  healthy: 'Healthy',
  noted: 'Healthy, with a note',
  unsettled: 'Too little to judge',
  nothing_applied: 'No update applied yet',
  not_learning: 'Not learning',
  trouble: 'Trouble, not confirmed yet',
};
const FINE = new Set(['no_step_yet', 'healthy', 'noted']);

export const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

// A headline without what its condition says.
function afterLead(run) {
  return run.headline.slice((run.headline_lead || '').length);
}

// {word, severity, fine}: what stands before the verdict, the severity whose
// mark and colour it has, and whether nothing needs to be done.
export function stateOf(run) {
  const severity = run.health_severity;
  const {condition, health} = run;
  const serious = RANK[severity] >= 2;
  const fine = !serious && FINE.has(condition);
  if (serious || !WORDS[condition]) {
    return {word: words(health), severity, fine};
  }
  const was = health.indexOf(', was ');
  if (fine && was >= 0) {
    return {word: `Healthy${health.slice(was)}`, severity: 'none', fine};
  }
  const noted = condition === 'healthy' && severity === 'info';
  return {
    word: WORDS[noted ? 'noted' : condition],
    severity: noted || condition === 'noted' || !fine ? 'info' : 'none', fine,
  };
}

const LONG = 120;  // characters

// Two sentences out of one text, where it is long: not within brackets.
function cut(text) {
  const closed = ({index}) =>
      text.lastIndexOf('(', index) <= text.lastIndexOf(')', index);
  const end = [...text.matchAll(/[.;:] /g)].find(closed);
  if (!end || text.length < LONG) return [text, ''];
  return [`${text.slice(0, end.index)}.`, capital(text.slice(end.index + 2))];
}

// The verdict in two: what, and why. What is over, or eased, begins with it.
export function clauses(run) {
  if (!run.headline) return ['', ''];
  const rest = capital(afterLead(run));
  if (run.condition === 'healed' || run.condition === 'held') {
    return [run.headline_lead.replace(/: $/, '.'), rest];
  }
  return cut(rest);
}

// True of an incident that stood when its run ended: nobody saw it go away.
export const stoodAtEnd = (incident) => incident.state === 'resolved' &&
    incident.resolved_step === null;

// How an incident stands, in a word and as a class of the style sheet.
export function standingOf(incident) {
  return stoodAtEnd(incident) ?
      {word: 'open at the end', look: 'firing ended'} :
      {word: incident.state, look: incident.state};
}

// The step up to which the findings of an incident that fires were seen, where
// its run has gone further: their sentences are made anew every so many
// updates. Null: to the newest.
export function seenTo(run, incident) {
  if (run.state !== 'open' || incident.state !== 'firing') return null;
  const last = Math.max(...incident.findings.map((f) => f.last_step));
  return last < run.last_step && Number.isFinite(last) ? last : null;
}

// Whether the run goes on. What ended it is in its verdict.
export function lifeOf(run) {
  const when = run.ended || run.last_record;
  if (run.state === 'open') {
    return `running · last record ${ago(run.last_record)}`;
  }
  return (run.state === 'lost' ? 'lost · last record' : 'ended') +
      (when ? ` ${ago(when)}` : '') + (run.judged_to_end !== false ? '' :
          (run.end_reason ? ` (${run.end_reason})` : '') +
          ', not judged to its end');
}
