// The page: which view the address asks for, the keyboard, the line to the
// daemon.

import {getJson} from './api.js';
import {CompareView} from './compare_view.js';
import {fill, h} from './dom.js';
import {setDaemonTime} from './format.js';
import {showKeys, typing} from './keys.js';
import {RunView} from './run_view.js';
import {RunsView} from './runs_view.js';

const main = document.getElementById('main');
const crumbs = document.getElementById('crumbs');
const contact = document.getElementById('contact');
let view = null;

export const status = {annotations: false, user: null, version: ''};

function whole(text) {
  return /^-?\d+$/.test(text || '') ? Number(text) : null;
}

function place() {
  const query = new URLSearchParams(location.search);
  return {
    run: query.get('run'), attempt: whole(query.get('attempt')),
    step: whole(query.get('step')), rank: whole(query.get('rank')),
    from: whole(query.get('from')), to: whole(query.get('to')),
    with: query.get('with'), withAttempt: whole(query.get('with_attempt')),
  };
}

const context = {
  status,
  crumbs: (...parts) => fill(crumbs, h('a', {href: '/'}, 'nanwatch'),
                             ...parts.filter(Boolean).map((p) => [' / ', p])),
  // What stands in the address without being a new place.
  remember(changes) {
    const query = new URLSearchParams(location.search);
    for (const [name, value] of Object.entries(changes)) {
      if (value === null) {
        query.delete(name);
      } else {
        query.set(name, value);
      }
    }
    history.replaceState(null, '', `/?${query}`);
  },
  go,
  told(how, error) {
    contact.className = how;
    contact.textContent = how === 'lost' ? error.message :
        how === 'live' ? 'connected' : 'asks every 4 s';
    contact.title = how === 'live' ?
        'The daemon tells this page what is new' : '';
  },
};

function show() {
  if (view) view.stop();
  contact.textContent = '';
  contact.className = '';
  const where = place();
  main.replaceChildren();
  const View = !where.run ? null : where.with === null ? RunView : CompareView;
  view = View ? new View(main, where, context) : new RunsView(main, context);
  window.scrollTo(0, 0);
}

function go(href) {
  history.pushState(null, '', href);
  show();
}

document.addEventListener('click', (event) => {
  const link = event.target.closest('a[href]');
  if (!link || event.button || event.ctrlKey || event.metaKey ||
      event.shiftKey || link.hasAttribute('download') ||
      link.origin !== location.origin || link.pathname !== '/' ||
      link.getAttribute('href').startsWith('#')) {
    return;
  }
  event.preventDefault();
  go(link.getAttribute('href'));
});
window.addEventListener('popstate', show);
document.getElementById('help').addEventListener('click', showKeys);
document.addEventListener('keydown', (event) => {
  if (typing(event)) return;
  if (event.key === '?') {
    showKeys();
  } else if (event.key === 'u') {
    if (place().run) go('/');
  } else if (!view || !view.key || !view.key(event)) {
    return;
  }
  event.preventDefault();
});

// Who may say what, and what time it is there; the view need not wait for it.
async function begin() {
  history.replaceState(null, '');  // arrived (arrival.js)
  show();
  try {
    const known = await getJson('/api/v1/status');
    setDaemonTime(known.now);
    status.annotations = known.annotations === true;
    status.user = known.user;
    status.version = known.version;
    const warning = document.getElementById('warning');
    warning.textContent = known.insecure && `${known.insecure}.`;
    warning.hidden = !known.insecure;
    view.redraw();
  } catch (e) {
    context.told('lost', e);
  }
}
begin();
