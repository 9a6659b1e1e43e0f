// A browser starts no worker for a page that is a file. For such a page this runs
// the worker of the site's search in a hidden frame instead.
if (location.protocol === 'file:') {
  window.Worker = window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement('iframe');
      frame.hidden = true;
      document.body.append(frame);
      this.inside = frame.contentWindow;
      const load = (source) => new Promise((loaded) => {
        const script = frame.contentDocument.createElement('script');
        script.src = new URL(source, location.href);
        script.onload = loaded;
        frame.contentDocument.head.append(script);
      });
      this.inside.importScripts = (...sources) =>
        sources.reduce((before, source) => before.then(() => load(source)),
                       Promise.resolve());
      this.inside.postMessage = (data) => this.emit(this, data);
      this.ready = load(url);
    }

    emit(target, data) {
      target.dispatchEvent(new MessageEvent('message', {data}));
    }

    postMessage(data) {
      this.ready.then(() => this.emit(this.inside, data));
    }
  };
}
