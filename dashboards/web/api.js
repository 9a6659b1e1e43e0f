// The daemon's API: replies that have not changed are not sent again.

const LONGEST_MEMORY = 60;
const known = new Map();  // path -> {etag, body}

export class ApiError extends Error {
  constructor(status, what, todo) {
    super(what);
    this.status = status;
    this.todo = todo;
  }
}

async function errorOf(reply) {
  try {
    const {error} = await reply.json();
    return new ApiError(reply.status, error.what, error.do);
  } catch (e) {
    return new ApiError(reply.status, `The daemon answered ${reply.status}.`,
                        '');
  }
}

export async function getJson(path, signal) {
  const before = known.get(path);
  // A reply of the last second will do: pages that show the same share it.
  const headers = {'Cache-Control': 'max-age=1'};
  if (before) headers['If-None-Match'] = before.etag;
  let reply;
  try {
    reply = await fetch(path, {headers, signal, cache: 'no-store'});
  } catch (e) {
    if (e.name === 'AbortError') throw e;
    throw new ApiError(0, 'The daemon cannot be reached.', '');
  }
  if (reply.status === 304 && before) return before.body;
  if (!reply.ok) throw await errorOf(reply);
  const body = await reply.json();
  const etag = reply.headers.get('ETag');
  known.delete(path);
  if (etag) {
    known.set(path, {etag, body});
    if (known.size > LONGEST_MEMORY) known.delete(known.keys().next().value);
  }
  return body;
}

// The header of its own makes browsers ask first when a foreign page tries.
export async function postJson(path, body) {
  let reply;
  try {
    reply = await fetch(path, {
      method: 'POST', cache: 'no-store', body: JSON.stringify(body),
      headers: {'Content-Type': 'application/json', 'X-Nanwatch': 'annotate'},
    });
  } catch (e) {
    throw new ApiError(0, 'The daemon cannot be reached.', '');
  }
  if (!reply.ok) throw await errorOf(reply);
  return reply.json();
}

export function runPath(run, attempt) {
  const path = `/api/v1/runs/${encodeURIComponent(run)}`;
  return attempt === null || attempt === undefined ?
      path : `${path}/attempts/${attempt}`;
}

// Calls `changed` when the runs (or one) changed, and once at the beginning:
// by server-sent events where the daemon has a place left, else every few
// seconds. Does nothing while nobody looks. Returns {stop}.
const POLL_MS = 4000;
const SOONEST_MS = 1000;
const LISTEN_AGAIN_MS = 30000;

export function watch(query, changed, told) {
  let source = null;
  let live = false;
  let timer = null;
  let last = 0;
  let tried = 0;
  let due = false;
  let stopped = false;

  const ask = async () => {
    due = false;
    last = Date.now();
    try {
      await changed();
      if (!stopped) told(live ? 'live' : 'asking');
    } catch (e) {
      if (!stopped && e.name !== 'AbortError') told('lost', e);
    }
  };
  const soon = () => {
    if (due || stopped) return;
    due = true;
    setTimeout(() => stopped || ask(),
               Math.max(0, last + SOONEST_MS - Date.now()));
  };
  const listen = () => {
    tried = Date.now();
    source = new EventSource(`/api/v1/events${query}`);
    source.addEventListener('open', () => {
      live = true;
      clearInterval(timer);
      soon();
    });
    source.addEventListener('change', soon);
    source.addEventListener('error', () => {
      live = false;
      if (source && source.readyState === EventSource.CLOSED) source = null;
      poll();
    });
  };
  const poll = () => {
    clearInterval(timer);
    timer = setInterval(() => {
      soon();
      if (!source && Date.now() - tried > LISTEN_AGAIN_MS) listen();
    }, POLL_MS);
  };
  const rest = () => {
    clearInterval(timer);
    if (source) source.close();
    source = null;
    live = false;
  };
  const look = () => {
    rest();
    if (document.hidden) return;
    soon();
    poll();
    listen();
  };
  document.addEventListener('visibilitychange', look);
  look();
  return {
    now: soon,
    stop() {
      stopped = true;
      rest();
      document.removeEventListener('visibilitychange', look);
    },
  };
}
