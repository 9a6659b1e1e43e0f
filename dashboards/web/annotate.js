// Acknowledge, mute, unmute: with a reason and a name.

import {postJson, runPath} from './api.js';
import {h} from './dom.js';

const DURATIONS = [
  [1800, '30 minutes'], [3600, '1 hour'], [4 * 3600, '4 hours'],
  [86400, '1 day'], [0, 'until it is unmuted'],
];
const TITLES = {
  acknowledge: 'Acknowledge', mute: 'Mute', unmute: 'Unmute',
};
const MEANING = {
  acknowledge: 'Others see that you look after it.',
  mute: 'The daemon sends no notices of it meanwhile; it goes on judging.',
  unmute: 'The daemon sends notices of it again.',
};
const NAME_KEY = 'nanwatch.name';

function rememberedName() {
  try {
    return localStorage.getItem(NAME_KEY) || '';
  } catch (e) {
    return '';  // a browser that keeps nothing
  }
}

function rememberName(name) {
  try {
    localStorage.setItem(NAME_KEY, name);
  } catch (e) {
    // then it is asked for again
  }
}

// Where the page may not say it, the command that does.
export function commandOf(run, incident) {
  const id = /^[\w.:/@-]+$/.test(run.run_id) ? run.run_id :
                             `'${run.run_id.replace(/'/g, `'\\''`)}'`;
  return `nanwatch ack ${id} --incident ${incident.id}`;
}

// `user`: who the daemon knows that it is; null: he gives a name.
export function annotateDialog(run, incident, kind, user, done) {
  const name = h('input', {name: 'by', required: !user, maxlength: 100,
                           value: user || rememberedName(),
                           autocomplete: 'username'});
  const reason = h('input', {name: 'reason', required: kind === 'mute',
                             maxlength: 500, autocomplete: 'off'});
  const time = h('select', {name: 'for'}, DURATIONS.map(([seconds, text]) =>
      h('option', {value: seconds, selected: seconds === 3600}, text)));
  const problem = h('p', {class: 'problem', role: 'alert'});
  const send = async (event) => {
    event.preventDefault();
    if (!user) rememberName(name.value.trim());
    const body = {kind, incident: incident.id, by: name.value.trim(),
                  reason: reason.value.trim()};
    if (kind === 'mute') body.for_seconds = Number(time.value);
    try {
      await postJson(`${runPath(run.run_id, run.attempt)}/annotations`, body);
      dialog.close();
      done();
    } catch (e) {
      problem.textContent = `${e.message} ${e.todo || ''}`;
    }
  };
  const dialog = h('dialog', {'aria-label': TITLES[kind]},
      h('form', {onsubmit: send},
        h('h2', {}, `${TITLES[kind]} the incident at step ` +
            incident.opened_step),
        h('p', {class: 'note'}, MEANING[kind]),
        kind === 'mute' && h('label', {}, 'For', time),
        h('label', {}, 'Reason', reason),
        user ? h('p', {class: 'note'}, `As ${user}.`) :
               h('label', {}, 'Your name', name),
        problem,
        h('div', {class: 'buttons'},
          h('button', {class: 'main'}, TITLES[kind]),
          h('button', {type: 'button', onclick: () => dialog.close()},
            'Cancel'))));
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  (kind === 'mute' || name.value ? reason : name).focus();
}
