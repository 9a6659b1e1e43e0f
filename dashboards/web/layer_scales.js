// Loss scales of layers: what each needs and bears, what it has, and what it
// loses, as lanes over one axis of powers of two.

import {getJson} from './api.js';
import {fill, h} from './dom.js';
import {number, power} from './format.js';

const SHOWN = 40;  // layers, until more are asked for
const EVERY_MS = 3000;
const ROOM = 2;  // bits beside the outermost
const TICKS = 7;  // at most
const EDGE = 4;   // percent of the width, where a name has no room
const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500];  // bits
const COLUMNS = {
  Layer: '',
  Needs: 'At a lower scale more than 1 in 1000 of its elements is lost.',
  Bears: 'At a higher scale its largest gradient is above half the largest ' +
         'number.',
  Has: 'Its own loss scale now.',
  Loses: 'Share of its elements that is lost at the scale it has.',
};

const BOUNDS = new Set(['Needs', 'Bears']);  // the lane shows them, too

const log2 = (given) => {
  const v = number(given);
  return v !== null && v > 0 && Number.isFinite(v) ? Math.log2(v) : null;
};
// Scales are powers of two: the least that is needed, the most that is borne.
const NEAR = 0.05;  // bits
const powerText = (v, round = Math.round) => (v === null ? '–' :
    power(2, round === Math.ceil ? Math.ceil(v - NEAR) :
             round === Math.floor ? Math.floor(v + NEAR) : Math.round(v)));
const needText = (v) => powerText(v, Math.ceil);
const bearText = (v) => powerText(v, Math.floor);
const percent = (v) => (v < 0.0005 ? '0 %' : `${(100 * v).toFixed(1)} %`);

export class LayerScales {
  constructor(owner) {
    this.owner = owner;
    this.limit = SHOWN;
    this.asked = 0;
    this.head = h('h2', {}, 'Loss scales of layers');
    this.about = h('p', {class: 'note'});
    this.table = h('div', {class: 'scroll'});
    this.element = h('section', {id: 'layers', tabindex: -1, hidden: true},
                     this.head, this.about, this.table);
  }

  async load(again) {
    if (this.loading || (!again && Date.now() - this.asked < EVERY_MS)) return;
    this.loading = true;
    this.asked = Date.now();
    try {
      this.draw(await getJson(`${this.owner.path()}/layers`));
    } catch (e) {
      if (e.status !== 404) this.about.textContent = e.message;
    } finally {
      this.loading = false;
    }
  }

  draw({layers, groups}) {
    this.element.hidden = layers.length === 0;
    if (!layers.length) return;
    const known = layers.map((l) => ({...l, low: log2(l.lowest),
                                      high: log2(l.highest),
                                      at: log2(l.scale)}));
    const ends = known.flatMap((l) => [l.low, l.high, l.at])
        .filter((v) => v !== null);
    this.from = Math.floor(Math.min(...ends)) - ROOM;
    this.to = Math.ceil(Math.max(...ends)) + ROOM;
    fill(this.about, this.advice(layers, groups));
    const own = known.some((l) => l.at !== null);
    const columns = Object.entries(COLUMNS)
        .filter(([name]) => own || name !== 'Has');
    fill(this.table, h('table', {class: 'layer-scales'},
        h('thead', {}, h('tr', {}, columns.map(([name, title]) =>
            h('th', {scope: 'col', title,
                     class: name === 'Layer' ? 'name' :
                         BOUNDS.has(name) ? 'number bound' : 'number'}, name)),
        h('th', {scope: 'col', class: 'lane',
                 'aria-label': 'Suitable scales'}, this.axis()))),
        h('tbody', {}, known.slice(0, this.limit).map((l) => h('tr', {
          class: l.outside ? 'bad' : null,
        },
        h('td', {class: 'name'}, l.name),
        h('td', {class: 'number bound'},
          (l.cut || l.all_lost ? '≥ ' : '') + needText(l.low)),
        h('td', {class: 'number bound'}, bearText(l.high)),
        own && h('td', {class: 'number'}, powerText(l.at)),
        h('td', {class: 'number'}, l.all_lost ? 'all' : percent(l.lost)),
        h('td', {class: 'lane'}, this.lane(l)))))),
        known.length > this.limit && h('button', {
          class: 'more', 'data-key': 'more layers', onclick: () => {
            this.limit = known.length;
            this.draw({layers, groups});
          },
        }, `${known.length - this.limit} more`));
  }

  advice(layers, groups) {
    const bound = (groups.some((g) => g.bound) ?
        ' Of some layers all is lost: run again with these, and look again.' :
        '') + ' A bar shows the scales that suit (pale: estimated), a mark ' +
        'the one that the layer has (red: it does not suit, and more than 1 ' +
        'in 100 elements is lost).';
    const text = groups.map((g) => powerText(log2(g.scale))).join(', ');
    if (groups.length === 1) {
      return `One scale suits all of them: ${text}.${bound}`;
    }
    return groups.length ?
        `${groups.length} scales suit them, and no fewer do: ${text}.${bound}` :
        '';
  }

  axis() {
    const step = STEPS.find((bits) => (this.to - this.from) / bits < TICKS) ||
        STEPS.at(-1);
    const ticks = [];
    for (let v = Math.ceil(this.from / step) * step; v <= this.to; v += step) {
      if (this.place(v) < EDGE || this.place(v) > 100 - EDGE) continue;
      const tick = h('span', {}, power(2, v));
      tick.style.left = `${this.place(v)}%`;
      ticks.push(tick);
    }
    return h('div', {class: 'scale-axis'}, ticks);
  }

  place(v) {
    return 100 * (v - this.from) / (this.to - this.from);
  }

  // A bar from what it needs to what it bears, and a mark where it is.
  lane(l) {
    const parts = [];
    if (l.low !== null && l.high !== null) {
      const [a, b] = [Math.min(l.low, l.high), Math.max(l.low, l.high)];
      parts.push(h('span', {
        class: l.low > l.high ? 'span none' :
            l.cut || l.all_lost ? 'span guess' : 'span',
      }));
      const bar = parts[0].style;
      bar.left = `${this.place(a)}%`;
      bar.width = `${Math.max(0.5, this.place(b) - this.place(a))}%`;
    }
    if (l.at !== null) {
      parts.push(h('span', {class: l.outside ? 'at outside' : 'at'}));
      parts.at(-1).style.left = `${this.place(l.at)}%`;
    }
    return h('div', {
      class: 'scale-lane', role: 'img',
      'aria-label': `needs ${needText(l.low)}, bears ${bearText(l.high)}` +
          (l.at === null ? '' : `, has ${powerText(l.at)}`),
      title: `${powerText(this.from)} to ${powerText(this.to)}`,
    }, parts);
  }
}
