// Usage: node versus.mjs PREFIX PASS_ON_REQUEST MODEL.onnx [THREADS [ROUNDS [NAME=SHAPE ...]]]
// Times forward passes of ONNX Runtime and of tinyprof's backends in turns, on the same CPUs, each
// with the network as given and fused, and
// prints each backend's time and its ratio to ONNX Runtime's of the same round: medians with
// quartiles.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { inputsOf, load, randoms } from './onnxruntime.mjs';

const [prefix, program, model, threadsText = '1', roundsText = '30', ...shapes] = process.argv.slice(2);
const threads = Number(threadsText);
const rounds = Number(roundsText);

const quantile = (values, q) => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(q * (sorted.length - 1))];
};
const spread = (values, digits) =>
  [0.5, 0.25, 0.75].map((q) => quantile(values, q).toFixed(digits)).join(' / ');

// A child that makes a pass for each line it is sent.
const startPasses = async (backend, algorithm, ...fuse) => {
  const child = spawn(program, [model, backend, algorithm, threadsText, ...fuse, ...shapes], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const first = await lines.next();
  if (first.done) return undefined;
  return {
    name: [backend, ...(backend === 'eigen' ? [] : [algorithm]), ...fuse].join(' '),
    loadNs: Number(first.value.split(' ')[1]),
    pass: async () => {
      child.stdin.write('\n');
      return Number((await lines.next()).value);
    },
    stop: () => child.stdin.end(),
    ns: [],
    ratios: [],
  };
};

const startOnnxruntime = async () => {
  const ort = load(prefix);
  const start = process.hrtime.bigint();
  const session = await ort.InferenceSession.create(model, {
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
  });
  const loadNs = Number(process.hrtime.bigint() - start);
  const given = Object.fromEntries(shapes.map((text) => text.split('=')));
  const metadata = session.inputMetadata.map((input) =>
    given[input.name] ? { ...input, shape: given[input.name].split('x').map(Number) } : input);
  const inputs = inputsOf(ort, { inputMetadata: metadata }, randoms());
  return {
    name: 'onnxruntime',
    loadNs,
    pass: async () => {
      const begin = process.hrtime.bigint();
      await session.run(inputs);
      return Number(process.hrtime.bigint() - begin);
    },
    stop: () => {},
    ns: [],
    ratios: [],
  };
};

const contestants = [await startOnnxruntime()];
for (const [backend, algorithm] of [['eigen', 'direct'], ['onednn', 'direct'], ['onednn', 'auto'], ['best', 'auto']]) {
  for (const fuse of [[], ['fuse']]) {
    const contestant = await startPasses(backend, algorithm, ...fuse);
    if (contestant) contestants.push(contestant);
  }
}
for (let round = -3; round < rounds; ++round) {
  for (const contestant of contestants) {
    const ns = await contestant.pass();
    if (round < 0) continue;
    contestant.ns.push(ns);
    contestant.ratios.push(ns / contestants[0].ns[round]);
  }
}
console.log(`${model}, ${threads} thread(s), ${rounds} rounds: median / quartiles`);
for (const { name, loadNs, ns, ratios, stop } of contestants) {
  const ms = ns.map((value) => value / 1e6);
  console.log(`${name.padEnd(18)} ${spread(ms, 3)} ms; to onnxruntime ${spread(ratios, 3)}; ` +
    `loaded in ${(loadNs / 1e6).toFixed(0)} ms`);
  stop();
}
