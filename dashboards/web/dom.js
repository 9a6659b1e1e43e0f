// Elements out of words. Nothing here takes HTML: what a training sends is text
// and stays text.

const SVG = 'http://www.w3.org/2000/svg';

// h('p', {class: 'note', onclick: f}, 'text', child, [children], null)
export function h(tag, properties, ...children) {
  const element = tag.startsWith('svg:') ?
      document.createElementNS(SVG, tag.slice(4)) : document.createElement(tag);
  for (const [name, value] of Object.entries(properties || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) {
      element.addEventListener(name.slice(2), value);
    } else {
      element.setAttribute(name, value === true ? '' : value);
    }
  }
  append(element, children);
  return element;
}

function append(element, children) {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    if (Array.isArray(child)) {
      append(element, child);
    } else {
      element.append(child);
    }
  }
}

// Puts `children` in the place of what is there. What has not changed stays,
// and with it what somebody selects in it; whoever was on an element with a
// data-key is on its successor afterwards, and what was folded out stays so.
export function fill(element, ...children) {
  const on = element.contains(document.activeElement) ?
      document.activeElement.dataset.key : null;
  const made = document.createElement('div');
  append(made, children);
  for (const details of element.querySelectorAll('details[open][data-key]')) {
    const next = byKey(made, details.dataset.key);
    if (next) next.open = true;
  }
  settle(element, made);
  if (on && document.activeElement === document.body) {
    const successor = byKey(element, on);
    if (successor) successor.focus({preventScroll: true});
  }
}

// What listens, or is drawn on, knows its own data: it is replaced as a whole.
const WHOLE = 'a, button, canvas, details, input, select, svg';

// Gives `element` the children of `made`, changing as little as it can.
function settle(element, made) {
  const next = [...made.childNodes];
  const before = [...element.childNodes];
  next.forEach((child, i) => {
    const old = before[i];
    if (!old) {
      element.append(child);
    } else if (old.isEqualNode(child)) {
      return;
    } else if (old.nodeName !== child.nodeName || (child.matches &&
                                                   child.matches(WHOLE))) {
      old.replaceWith(child);
    } else if (child.nodeType === Node.TEXT_NODE) {
      old.data = child.data;
    } else {
      for (const {name} of [...old.attributes]) {
        if (!child.hasAttribute(name)) old.removeAttribute(name);
      }
      for (const {name, value} of child.attributes) {
        if (old.getAttribute(name) !== value) old.setAttribute(name, value);
      }
      settle(old, child);
    }
  });
  before.slice(next.length).forEach((child) => child.remove());
}

function byKey(element, key) {
  return [...element.querySelectorAll('[data-key]')]
      .find((e) => e.dataset.key === key);
}

// Severity by form and word, not by colour alone.
const MARKS = {
  none: 'M3.2 8.4l3 3 6.6-7',
  info: 'M8 1.8a6.2 6.2 0 1 0 .01 0M8 7.4v3.6M8 4.9v.1',
  warning: 'M8 2.2l6.2 11.3H1.8zM8 6.5v3.4M8 11.6v.2',
  critical: 'M3.4 3.4l9.2 9.2M12.6 3.4l-9.2 9.2',
};
export const SEVERITY_WORD = {
  none: 'healthy', info: 'note', warning: 'warning', critical: 'critical',
};

export function mark(severity) {
  return h('svg:svg', {
    class: `mark ${severity}`, viewBox: '0 0 16 16', 'aria-hidden': 'true',
  }, h('svg:path', {d: MARKS[severity] || MARKS.info}));
}

export function cssColour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name)
      .trim();
}

// Makes a canvas so large, in pixels of CSS. Returns dots a pixel.
export function sizeCanvas(canvas, width, height) {
  const dots = globalThis.devicePixelRatio || 1;
  canvas.width = width * dots;
  canvas.height = height * dots;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  return dots;
}
