// Numbers, steps and times as a person reads them.

// The API writes what JSON cannot: "NaN", "Infinity", "-Infinity".
export function number(value) {
  if (value === null || value === undefined) return null;
  return typeof value === 'string' ? Number(value) : value;
}

export function count(value) {
  if (value === null || value === undefined) return '–';
  return String(value).replace(/\B(?=(\d{3})+$)/g, ',');
}

export function value(given) {
  const v = number(given);
  if (v === null) return '–';
  if (Number.isNaN(v)) return 'NaN';
  if (!Number.isFinite(v)) return v > 0 ? 'Inf' : '−Inf';
  const size = Math.abs(v);
  if (v === 0) return '0';
  if (Number.isInteger(v) && size < 1e7) {
    return (v < 0 ? '−' : '') + count(size);
  }
  const text = size >= 1e5 || size < 1e-3 ? v.toExponential(2) :
                                            String(Number(v.toPrecision(4)));
  return text.replace('e+', 'e').replace(/-/g, '−');
}

const RAISED = {'-': '⁻', 0: '⁰', 1: '¹', 2: '²', 3: '³', 4: '⁴', 5: '⁵',
                6: '⁶', 7: '⁷', 8: '⁸', 9: '⁹'};
export function power(base, exponent) {
  return base + [...String(exponent)].map((c) => RAISED[c]).join('');
}

// Loss scales are powers of two nearly always.
export function scale(given) {
  const v = number(given);
  if (v === null || !Number.isFinite(v) || v <= 0) return value(v);
  const exponent = Math.log2(v);
  if (!Number.isInteger(exponent) || Math.abs(exponent) < 4) return value(v);
  return v < 1e7 && v >= 1 ? `${count(v)} (${power(2, exponent)})` :
                             power(2, exponent);
}

// 432111 -> "432,111", 2000000 -> "2M" where nothing is lost.
export function shortStep(v) {
  for (const [unit, letter] of [[1e9, 'G'], [1e6, 'M'], [1e3, 'k']]) {
    const scaled = v / unit;
    if (Math.abs(scaled) >= 1 && Number.isInteger(scaled * 100)) {
      return String(scaled).replace('-', '−') + letter;
    }
  }
  return count(v);
}

export function share(part, whole) {
  if (!whole) return '';
  const percent = 100 * part / whole;
  if (part === 0) return '0 %';
  return (percent < 0.01 ? '< 0.01' : String(Number(percent.toPrecision(
      percent >= 99.5 ? 4 : 2)))) + ' %';
}

let skew = 0;  // the daemon's clock less the browser's, seconds

export function setDaemonTime(seconds) {
  skew = seconds - Date.now() / 1000;
}
export function daemonNow() {
  return Date.now() / 1000 + skew;
}

export function duration(seconds) {
  const s = Math.max(0, Math.round(seconds));
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min`;
  if (s < 48 * 3600) {
    const minutes = Math.floor(s / 60) % 60;
    return `${Math.floor(s / 3600)} h` + (minutes ? ` ${minutes} min` : '');
  }
  return `${Math.floor(s / 86400)} days`;
}

export function ago(seconds) {
  const past = daemonNow() - seconds;
  return past < 2 ? 'now' : `${duration(past)} ago`;
}

export function clock(seconds) {
  const date = new Date(seconds * 1000);
  const today = new Date((daemonNow()) * 1000);
  const time = date.toLocaleTimeString([], {hour12: false});
  if (date.toDateString() === today.toDateString()) return time;
  return `${date.toLocaleDateString([], {month: 'short', day: 'numeric'})} ` +
         time;
}

export function fullTime(seconds) {
  return new Date(seconds * 1000).toISOString().replace('T', ' ')
      .replace('Z', ' UTC');
}

const FRAMEWORKS = {
  pytorch: 'PyTorch', apex: 'Apex', megatron: 'Megatron-LM',
  deepspeed: 'DeepSpeed', deepspeed_chat: 'DeepSpeed-Chat',
  hf_trainer: 'Hugging Face Trainer', lightning: 'Lightning', fairseq: 'fairseq', keras: 'Keras', jax: 'JAX',
  tensorflow: 'TensorFlow', ascend_tf: 'Ascend TensorFlow',
  mindspore: 'MindSpore', mindspeed: 'MindSpeed', colossalai: 'ColossalAI',
};
// "megatron+deepspeed" is both.
export function framework(name) {
  return name.split('+').map((n) => FRAMEWORKS[n] || n).join(' + ');
}

export function words(name) {
  const text = name.replace(/_/g, ' ').replace(/\b(nan|fp8)\b/g, (word) =>
      (word === 'nan' ? 'NaN' : 'FP8'));
  return text.charAt(0).toUpperCase() + text.slice(1);
}

// "Log, output, fp16", as far as it is known. A type that is the op's name says
// nothing more, nor does that of a weight, "Parameter", beside its slot.
function kindOf({op, type, slot, dtype}) {
  const said = type === op || (type || '').toLowerCase() === slot;
  return [!said && type, slot, dtype].filter(Boolean).join(', ');
}

export function place(subject) {
  const parts = [];
  if (subject.op) {
    const kind = kindOf(subject);
    parts.push(`op ${subject.op}` + (kind ? ` (${kind})` : ''));
  }
  if (subject.optimizer) parts.push(`optimizer ${subject.optimizer}`);
  if (subject.rank !== undefined) parts.push(`rank ${subject.rank}`);
  return parts.join(', ');
}

// Where it runs in a cluster; undefined: in none.
export function podText(pod) {
  return pod && [
    pod.name && `pod ${[pod.namespace, pod.name].filter(Boolean).join('/')}`,
    pod.node && `node ${pod.node}`,
  ].filter(Boolean).join(' on ');
}

// The same in a run: of one rank nobody asks which.
export function placeIn(run, subject) {
  return place(run.world_size > 1 ? subject : {...subject, rank: undefined});
}
