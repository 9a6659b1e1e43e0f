// Incidents on the axis of the charts: a bar each, from the step where it began
// to the one where it was over.

import {fill, h} from './dom.js';
import {count} from './format.js';
import {standingOf} from './state.js';

const ROWS = 4;
const ROW_HEIGHT = 12;
const NARROWEST = 8;  // pixels

export function drawLane(element, incidents, [from, to], area, chosen) {
  const scale = area.w / (to - from || 1);
  const ends = [];
  const bars = [];
  let hidden = 0;
  const sorted = [...incidents].sort((a, b) => a.opened_step - b.opened_step);
  for (const incident of sorted) {
    const end = incident.resolved_step === null ? to : incident.resolved_step;
    if (end < from || incident.opened_step > to) continue;
    const left = Math.max(0, (incident.opened_step - from) * scale);
    const width = Math.max(NARROWEST, Math.min(
        area.w - left, (end - Math.max(from, incident.opened_step)) * scale));
    let row = ends.findIndex((e) => e < left);
    if (row < 0) row = ends.length;
    if (row >= ROWS) {
      ++hidden;
      continue;
    }
    ends[row] = left + width + 2;
    const bar = h('button', {
      class: `bar-of ${incident.worst_severity} ` +
          standingOf(incident).look,
      'data-key': `lane ${incident.id}`,
      'aria-label': `Incident at step ${incident.opened_step}: ` +
          incident.summary,
      title: `step ${count(incident.opened_step)}: ${incident.summary}`,
      onclick: () => chosen(incident),
    });
    bar.style.left = `${area.x + left}px`;
    bar.style.width = `${width}px`;
    bar.style.top = `${row * ROW_HEIGHT}px`;
    bars.push(bar);
  }
  element.style.height = bars.length ?
      `${Math.min(ROWS, ends.length) * ROW_HEIGHT}px` : '0';
  fill(element, bars,
       hidden > 0 && h('span', {class: 'note'}, `${count(hidden)} more below`));
}
