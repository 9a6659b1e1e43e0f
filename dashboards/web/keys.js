// What the keyboard does, and the list of it.

import {h} from './dom.js';

const KEYS = [
  ['j, k', 'next, previous run or incident'],
  ['Enter', 'open the run; fold out the incident'],
  ['/', 'find a run'],
  ['u', 'up: all runs'],
  ['n, p', 'next, previous bad step on the charts'],
  ['← →', 'move the cursor; with Shift, the window'],
  ['+ −', 'zoom in, out'],
  ['0', 'the whole run'],
  ['a, m', 'acknowledge, mute the incident that is selected'],
  ['c, o, r', 'go to charts, ops, ranks'],
  ['?', 'this list'],
];

// Keys that belong to a field, a dialog or the browser.
export function typing(event) {
  return event.ctrlKey || event.metaKey || event.altKey ||
      event.target.closest('input, textarea, select, dialog') !== null;
}

export function showKeys() {
  const dialog = h('dialog', {class: 'keys', 'aria-label': 'Keyboard'},
      h('h2', {}, 'Keyboard'),
      h('dl', {}, KEYS.map(([key, what]) =>
          [h('dt', {}, h('kbd', {}, key)), h('dd', {}, what)])),
      h('form', {method: 'dialog'}, h('button', {autofocus: true}, 'Close')));
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
