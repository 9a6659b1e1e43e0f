// How far each tensor of two runs lies apart at each step, against what is
// usual there: a row a tensor, in the order of causes.

import {cssColour, fill, h, sizeCanvas} from './dom.js';
import {count, shortStep, value} from './format.js';

const ROWS = 24;  // until more are asked for
const ROW_HEIGHT = 18;
const WIDEST = 44;  // pixels of a step
const TICK = 36;    // pixels that the number of a step takes
// log10 of the distance over what is usual: the palest and the fullest.
const WITHIN = [-3, 0];
const BEYOND = [0, 4];
const KEY = [['equal', 'equal to the bit'], ['within', 'as is usual'],
             ['beyond', 'farther apart'], ['unknown', 'not compared']];

const standingOf = (cell) => (Array.isArray(cell) ? cell[0] : cell);
const decadesOf = (cell) => (Array.isArray(cell) ? cell[1] : null);

// Colour, opacity and height of a cell: what was not compared is a thin line.
function inkOf(cell) {
  const standing = standingOf(cell);
  const decades = decadesOf(cell);
  const full = ROW_HEIGHT - 4;
  if (standing === 'equal') return ['--cell', 1, full];
  if (standing === 'unknown') return ['--faint', 1, 2];
  const beyond = standing === 'beyond';
  const [low, high] = beyond ? BEYOND : WITHIN;
  const known = decades === null ? (beyond ? high : low) : decades;
  const part = Math.max(0, Math.min(1, (known - low) / (high - low)));
  return beyond ? ['--critical', 0.45 + 0.55 * part, full] :
                  ['--accent', 0.15 + 0.45 * part, full];
}

function inWords(cell) {
  const decades = decadesOf(cell);
  const times = decades === null ? '' :
      ` (${value(Number((10 ** decades).toPrecision(2)))} times what is usual)`;
  return {
    equal: 'equal to the bit', unknown: 'cannot be compared',
    within: `apart as is usual${times}`, beyond: `farther apart${times}`,
  }[standingOf(cell)];
}

export class DistanceMap {
  constructor() {
    this.limit = ROWS;
    this.labels = h('ol', {class: 'op-names'});
    this.canvas = h('canvas', {class: 'cells', role: 'img'});
    this.steps = h('div', {class: 'map-steps'});
    this.readout = h('p', {class: 'readout note'}, '\u00a0');
    this.about = h('p', {class: 'note'});
    this.key = h('p', {class: 'note map-key'}, KEY.map(([standing, text]) =>
        h('span', {}, h('i', {class: standing}), text)));
    this.more = h('button', {class: 'more', hidden: true, onclick: () => {
      this.limit = Infinity;
      this.draw();
    }});
    this.element = h('section', {id: 'distances', hidden: true},
        h('h2', {}, 'Tensors by step'), this.key,
        h('div', {class: 'op-map'}, this.labels,
          h('div', {class: 'op-cells'}, this.canvas, this.steps)),
        this.readout, this.more, this.about);
    this.canvas.addEventListener('pointermove', (e) => this.hover(e));
    this.observer = new ResizeObserver(() => this.map && this.draw());
    this.observer.observe(this.element);
  }

  stop() {
    this.observer.disconnect();
  }

  // `first`: the divergence, null: there is none. `says`: sentences.
  show(map, first, says) {
    this.map = map;
    this.first = first;
    this.says = says;
    this.element.hidden = map.tensors.length === 0;
    if (!this.element.hidden) this.draw();
  }

  isFirst(tensor) {
    return this.first && tensor.op === this.first.op &&
        tensor.slot === this.first.slot && tensor.phase === this.first.phase;
  }

  draw() {
    const {steps, tensors} = this.map;
    this.rows = tensors.slice(0, this.limit);
    const width = this.canvas.parentElement.clientWidth;
    this.cell = Math.min(WIDEST, width / steps.length);
    const beyond = (t) => t.cells.some((c) => standingOf(c) === 'beyond');
    fill(this.labels, this.rows.map((t) => h('li', {
      title: `${t.op} ${t.type} (${t.slot})`, class: beyond(t) ? 'bad' : null,
    }, this.isFirst(t) ? h('b', {}, t.op) : t.op,
       h('span', {class: 'note'}, ` ${t.slot.replace('_', ' ')}`))));
    const height = this.rows.length * ROW_HEIGHT;
    const dots = sizeCanvas(this.canvas, width, height);
    this.canvas.setAttribute('aria-label', `${count(this.rows.length)} ` +
        `tensors at ${count(steps.length)} steps. ${this.says[0] || ''}`);
    this.paint(dots);
    this.drawSteps(steps, width);
    this.more.hidden = tensors.length <= this.rows.length;
    this.more.textContent = `${tensors.length - this.rows.length} more`;
    const left = [
      this.map.tensors_left_out > 0 &&
          `${count(this.map.tensors_left_out)} tensors that lie less far ` +
          'apart are not drawn.',
      this.map.steps_left_out > 0 &&
          `${count(this.map.steps_left_out)} steps between these are not ` +
          'drawn.',
    ].filter(Boolean);
    this.about.textContent = [...this.says, ...left].join(' ');
  }

  paint(dots) {
    const pen = this.canvas.getContext('2d');
    pen.scale(dots, dots);
    const colours = {};
    const gap = this.cell > 4 ? 1 : 0;
    this.rows.forEach((tensor, i) => tensor.cells.forEach((cell, column) => {
      if (cell === null) return;
      const [name, opacity, height] = inkOf(cell);
      colours[name] = colours[name] || cssColour(name);
      pen.fillStyle = colours[name];
      pen.globalAlpha = opacity;
      pen.fillRect(column * this.cell, (i + 0.5) * ROW_HEIGHT - height / 2,
                   Math.max(1, this.cell - gap), height);
    }));
  }

  drawSteps(steps, width) {
    const every = Math.max(1, Math.ceil(TICK / this.cell));
    fill(this.steps, steps.map((step, i) => {
      const at = (i + 0.5) * this.cell;
      if (i % every || at > width - TICK / 4) return null;
      const tick = h('span', {}, shortStep(step));
      tick.style.left = `${at}px`;
      return tick;
    }));
  }

  hover(event) {
    const box = this.canvas.getBoundingClientRect();
    const tensor = this.rows[Math.floor((event.clientY - box.top) /
                                        ROW_HEIGHT)];
    const column = Math.floor((event.clientX - box.left) / this.cell);
    const cell = tensor && tensor.cells[column];
    this.readout.textContent = cell ? [
      tensor.op, tensor.slot.replace('_', ' '),
      `step ${count(this.map.steps[column])}`, inWords(cell),
    ].join(' · ') : '\u00a0';
  }
}
