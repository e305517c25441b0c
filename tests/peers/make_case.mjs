// Usage: node make_case.mjs PREFIX MODEL.onnx DIR
// Runs the model in ONNX Runtime on made-up inputs and writes DIR/input_N.pb and DIR/output_N.pb,
// which `tinyprof-client verify` reads. Prints the smallest of the outputs' largest magnitudes.
import { mkdirSync } from 'node:fs';
import { inputsOf, load, oneThread, randoms, writeTensor } from './onnxruntime.mjs';

const [prefix, model, dir] = process.argv.slice(2);
const ort = load(prefix);
const session = await ort.InferenceSession.create(model, oneThread);
const inputs = inputsOf(ort, session, randoms());
const outputs = await session.run(inputs);
mkdirSync(dir, { recursive: true });
session.inputNames.forEach((name, i) => writeTensor(`${dir}/input_${i}.pb`, inputs[name]));
session.outputNames.forEach((name, i) => writeTensor(`${dir}/output_${i}.pb`, outputs[name]));

const magnitude = (tensor) => tensor.data.reduce((largest, x) => Math.max(largest, Math.abs(Number(x))), 0);
console.log(Math.min(...session.outputNames.map((name) => magnitude(outputs[name]))));
