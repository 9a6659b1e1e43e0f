// Loads the page again where one of its scripts did not arrive: without it the
// page stays empty. Comes before the others, and imports nothing of them.

(() => {
  const MOST_LOADS = 3;  // in a row
  const PAUSE_MS = 1500;
  let failed = false;

  addEventListener('error', ({target}) => {
    if (!(target instanceof HTMLScriptElement) || failed) return;
    failed = true;
    const loads = (history.state && history.state.loads || 1) + 1;
    if (loads <= MOST_LOADS) {
      setTimeout(() => {
        history.replaceState({loads}, '');
        location.reload();
      }, PAUSE_MS);
      return;
    }
    history.replaceState(null, '');
    document.getElementById('main').textContent =
        'A part of this page did not arrive. Load it again.';
  }, true);
})();
