// One chart: a number over steps on a Dygraph. The line is the last value of
// each bucket, the band its smallest to its largest; marks are drawn above.

import {cssColour, fill, h} from './dom.js';
import {power, scale, shortStep, value} from './format.js';
import {inOneWord, inWords, raisedTo, seriesOf} from './chart_data.js';
import {lookOf, swatch, titleOf, valuesOf} from './optimizers.js';

// What is not used would write styles into the document, which it forbids.
const {Dygraph} = globalThis;
Dygraph.PLUGINS = [Dygraph.Plugins.Axes, Dygraph.Plugins.Grid];

const AXIS_WIDTH = 52;
const HEIGHT = 112;
const NARROWEST_MARK = 2;
const FEW_POINTS = 60;  // below, each is drawn as one
const PLAIN_POWERS = 19;  // of 2: more digits than the axis is wide

function logTicks(base, low, high) {
  const first = Math.ceil(Math.log(low) / Math.log(base) - 1e-9);
  const last = Math.floor(Math.log(high) / Math.log(base) + 1e-9);
  if (base === 10 && last - first < 2) return fineTicks(low, high);
  let every = 1;
  while ((last - first) / every > 4) every *= 2;
  const powers = [];
  for (let e = Math.ceil(first / every) * every; e <= last; e += every) {
    powers.push(e);
  }
  // All in one way.
  const plain = powers.every((e) => (base === 10 ? e >= -3 && e <= 4 :
                                                   e >= 0 && e <= PLAIN_POWERS));
  return powers.map((e) => ({
    v: base ** e, label: plain ? value(base ** e) : power(base, e)}));
}

// 1, 2, 5, 10, ...: for less than three powers of ten.
function fineTicks(low, high) {
  const ticks = [];
  for (let e = Math.floor(Math.log10(low)); 10 ** e <= high; ++e) {
    for (const m of [1, 2, 5]) {
      const v = Number((m * 10 ** e).toPrecision(3));
      if (v >= low && v <= high) ticks.push({v, label: value(v)});
    }
  }
  return ticks.length > 1 ? ticks : someTicks(low, high);
}

// One alone says nothing of how far it is up or down.
function someTicks(low, high) {
  let ticks = [];
  for (let most = 3; ticks.length < 2 && most < 12; most += 2) {
    ticks = linearTicks(low, high, most);
  }
  return ticks;
}

export function linearTicks(low, high, most) {
  const rough = (high - low) / most;
  if (!(rough > 0)) return [{v: low, label: value(low)}];
  const size = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((m) => m * size >= rough) * size;
  const ticks = [];
  for (let v = Math.ceil(low / step) * step; v <= high + step * 1e-9;
       v += step) {
    const rounded = Number(v.toPrecision(12));
    ticks.push({v: rounded, label: value(rounded)});
  }
  return ticks;
}

export function stepTicks(low, high, width) {
  return linearTicks(low, high, Math.max(2, width / 110))
      .filter((t) => Number.isInteger(t.v))
      .map((t) => ({v: t.v, label: shortStep(t.v)}));
}

export class Chart {
  constructor(field, owner) {
    this.field = field;
    this.owner = owner;
    this.format = field.unit === 'scale' ? scale : value;
    this.readout = h('span', {class: 'readout'});
    this.keys = h('span', {class: 'note keys-of-marks'});
    this.plot = h('div', {class: 'plot'});
    this.line = h('div', {class: 'cursor', hidden: true});
    const benchmark = field.name === 'loss' && owner.owner.run.benchmark;
    this.element = h('figure', {class: 'chart', 'data-field': field.name},
        h('figcaption', {}, h('b', {}, field.title), this.readout,
          this.keys,
          benchmark && h('span', {class: 'note', 'data-key': 'benchmark'},
                         `dashed: ${benchmark.reference}`)),
        h('div', {class: 'frame'}, this.plot, this.line));
    this.dygraph = null;
    this.data = null;
    this.names = [];  // optimizers that have a line each
    this.skipped = null;  // buckets with skipped steps, on one chart only
  }

  colours() {
    this.colour = {
      accent: cssColour('--accent'), critical: cssColour('--critical'),
      warning: cssColour('--warning'), line: cssColour('--line'),
      faint: cssColour('--faint'),
    };
  }

  draw(buckets, window) {
    this.colours();
    this.data = seriesOf(buckets, this.field.name, window[0], window[1],
                         this.names);
    const {low, high, lowest} = this.ends(window);
    this.log = this.field.base === 2 ? lowest < Infinity :
                                       low > 0 && high / low > 3;
    const range = this.range(low, high, lowest);
    this.drawKeys();
    const file = this.log ? raisedTo(this.data.rows, range[0]) : this.data.rows;
    const options = {
      file, dateWindow: window, valueRange: range, logscale: this.log,
      drawPoints: file.length < FEW_POINTS,
    };
    const kind = `${this.log} ${this.names.join('\n')}`;
    if (this.dygraph && this.kind === kind) {
      this.dygraph.updateOptions(options);
      return;
    }
    this.kind = kind;
    if (this.dygraph) this.dygraph.destroy();
    this.dygraph = this.made(options);
  }

  // What its marks stand for.
  drawKeys() {
    const {values} = this.owner.owner.run;
    const marks = this.data.marks.length > 0;
    const key = (colour, text) => h('span', {class: 'key'},
        h('i', {class: `block ${colour}`, 'aria-hidden': 'true'}), text);
    fill(this.keys,
         marks && key('critical', this.data.low > this.data.high ?
             'NaN or infinite; no finite value' : 'NaN or infinite'),
         this.skipped && this.skipped.length > 0 && key('warning',
             inOneWord(this.skipped, Boolean(values && values.loss_scale))));
  }

  // Of another run, that is drawn beside: [[step, value, least, most]].
  beside() {
    return this.field.name === 'loss' ? this.owner.benchmark : [];
  }

  // What both runs reach within the window.
  ends([from, to]) {
    let {low, high, lowest} = this.data;
    for (const [step, v, least = v, most = v] of this.beside()) {
      if (step < from || step > to) continue;
      low = Math.min(low, least);
      high = Math.max(high, most);
      if (most > 0) lowest = Math.min(lowest, least > 0 ? least : most);
    }
    return {low, high, lowest};
  }

  made({file, ...options}) {
    const base = this.field.base;
    const lines = this.names.length ? this.names : [this.field.name];
    const none = lines.map(() => [null, null, null]);
    return new Dygraph(this.plot, file.length ? file : [[0, ...none]], {
      ...options, customBars: true, connectSeparatedPoints: true,
      // A number each: a name may be "step", or nothing.
      labels: ['step', ...lines.map((_, i) => `line ${i}`)],
      colors: lines.map((_, i) => cssColour(lookOf(i).property)),
      series: Object.fromEntries(lines.map((_, i) => [
        `line ${i}`, {strokePattern: lookOf(i).dashes}])),
      legend: 'never', strokeWidth: 1.25,
      fillAlpha: 0.22, height: HEIGHT, gridLineColor: this.colour.line,
      axisLineColor: this.colour.line, rightGap: 8, xRangePad: 0,
      stepPlot: base === 2,
      pointSize: 2, isolatedPointSize: 2, drawGapEdgePoints: true,
      highlightCircleSize: 0, interactionModel: {}, animatedZooms: false,
      axes: {
        x: {
          drawAxis: this.owner.isLast(this), drawGrid: true,
          axisLabelHeight: 14, pixelsPerLabel: 90,
          ticker: (a, b, pixels) => stepTicks(a, b, pixels),
        },
        y: {
          axisLabelWidth: AXIS_WIDTH,
          ticker: (a, b) => (this.data.low > this.data.high ? [] :
              this.log ? logTicks(base, a, b) : someTicks(a, b)),
        },
      },
      underlayCallback: (canvas, area, g) => this.under(canvas, area, g),
    });
  }

  range(low, high, lowest) {
    if (low > high) return this.log ? [1, 10] : [0, 1];
    // Below, there is room for the marks of skipped steps.
    const room = this.skipped && this.skipped.length ? 0.22 : 0.08;
    if (this.log) {
      const {base} = this.field;
      if (high === lowest) return [lowest / base ** 1.2, high * base ** 1.2];
      const span = Math.max(high / lowest, base);
      return [lowest / span ** room, high * span ** 0.1];
    }
    const span = high - low || 0.5 * Math.abs(high) || 1;
    return [low - room * span, high + 0.1 * span];
  }

  spot(g, from, to) {
    const area = g.getArea();
    const left = Math.round(g.toDomXCoord(from - 0.5));
    const right = Math.round(g.toDomXCoord(to + 0.5));
    const width = Math.max(NARROWEST_MARK, right - left);
    if (left + width < area.x || left > area.x + area.w) return null;
    return [left, width];
  }

  // Skipped steps grow from the bottom, as high as their share.
  under(canvas, area, g) {
    const marked = this.owner.step;
    if (marked !== null) {
      const x = Math.round(g.toDomXCoord(marked));
      canvas.fillStyle = this.colour.faint;
      canvas.fillRect(x - 1, area.y, 2, area.h);
    }
    this.drawBeside(canvas, area, g);
    this.drawNonFinite(canvas, area, g);
    if (!this.skipped) return;
    canvas.fillStyle = this.colour.warning;
    for (const skip of this.skipped) {
      const spot = this.spot(g, skip.from, skip.to);
      if (!spot) continue;
      const height = 4 + 5 * skip.share;
      canvas.fillRect(spot[0], area.y + area.h - height, spot[1], height);
    }
  }

  // The line of the other run, and its band where it has one.
  drawBeside(canvas, area, g) {
    const points = this.beside().filter(([, v]) => !this.log || v > 0);
    if (!points.length) return;
    canvas.save();
    canvas.beginPath();
    canvas.rect(area.x, area.y, area.w, area.h);
    canvas.clip();
    this.fillBand(canvas, g, points);
    canvas.strokeStyle = this.colour.warning;
    canvas.setLineDash([4, 3]);
    canvas.beginPath();
    for (const [step, v] of points) {
      canvas.lineTo(g.toDomXCoord(step), g.toDomYCoord(v));
    }
    canvas.stroke();
    canvas.restore();
  }

  fillBand(canvas, g, points) {
    const ends = points.filter((p) => p.length > 2 && (!this.log || p[2] > 0));
    if (!ends.length) return;
    canvas.beginPath();
    for (const [step, , , most] of ends) {
      canvas.lineTo(g.toDomXCoord(step), g.toDomYCoord(most));
    }
    for (const [step, , least] of ends.reverse()) {
      canvas.lineTo(g.toDomXCoord(step), g.toDomYCoord(least));
    }
    canvas.fillStyle = this.colour.warning;
    canvas.globalAlpha = 0.16;
    canvas.fill();
    canvas.globalAlpha = 1;
  }

  // Values that are not finite hang from the top.
  drawNonFinite(canvas, area, g) {
    canvas.save();
    canvas.fillStyle = this.colour.critical;
    for (const at of this.data.marks) {
      const spot = this.spot(g, at.from, at.to);
      if (!spot) continue;
      const [left, width] = spot;
      canvas.globalAlpha = 0.35;
      canvas.fillRect(left, area.y, width, area.h);
      canvas.globalAlpha = 1;
      canvas.fillRect(left, area.y, width, 4);
      const x = left + Math.min(width / 2, 5);
      canvas.beginPath();
      canvas.moveTo(x - 5, area.y);
      canvas.lineTo(x + 5, area.y);
      canvas.lineTo(x, area.y + 8);
      canvas.fill();
    }
    canvas.restore();
  }

  get area() {
    return this.dygraph.getArea();
  }

  pointAt(bucket, x) {
    this.line.hidden = x === null;
    if (x !== null) {
      this.line.style.transform =
          `translateX(${this.dygraph.toDomXCoord(x)}px)`;
    }
    const v = bucket && bucket.values[this.field.name];
    fill(this.readout, bucket && (this.names.length ? this.each(bucket) :
        inWords(v, this.format) || 'not collected'));
    this.readout.classList.toggle(
        'bad', Boolean(v && (v.nan || v.pos_inf || v.neg_inf)));
  }

  // What each optimizer had there.
  each(bucket) {
    const said = this.names.map((name, i) => {
      const text = inWords(valuesOf(bucket, name)[this.field.name],
                           this.format);
      return text && h('span', {class: 'key', title: titleOf(name)}, swatch(i),
                       text);
    }).filter(Boolean);
    return said.length ? said : 'not collected';
  }

  resize() {
    if (this.dygraph) this.dygraph.resize();
  }

  destroy() {
    if (this.dygraph) this.dygraph.destroy();
    this.dygraph = null;
  }
}
