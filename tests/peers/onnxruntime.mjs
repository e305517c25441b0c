// ONNX Runtime, from npm, and tensors in the files of ONNX's test suites.
import { createRequire } from 'node:module';
import { writeFileSync } from 'node:fs';

// The package in `prefix`, where install.sh has put it.
export const load = (prefix) => createRequire(`${prefix}/`)('onnxruntime-node');

// On one thread, which is the session's own.
export const oneThread = { intraOpNumThreads: 1, interOpNumThreads: 1 };

// TensorProto.DataType of onnx.proto.
const dataTypes = { float32: 1, int64: 7 };

const varint = (value) => {
  const bytes = [];
  let rest = BigInt(value);
  while (rest >= 128n) {
    bytes.push(Number(rest & 127n) | 128);
    rest >>= 7n;
  }
  return Buffer.from([...bytes, Number(rest)]);
};

// TensorProto: 1 dims, 2 data_type, 9 raw_data.
export const writeTensor = (file, { type, dims, data }) => {
  const parts = dims.flatMap((dim) => [varint(1 << 3), varint(dim)]);
  parts.push(varint(2 << 3), varint(dataTypes[type]));
  parts.push(varint((9 << 3) | 2), varint(data.byteLength));
  parts.push(Buffer.from(data.buffer, data.byteOffset, data.byteLength));
  writeFileSync(file, Buffer.concat(parts));
};

// Numbers from 0 to 1 that are the same everywhere (a linear congruential generator).
export const randoms = () => {
  let state = 1;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
};

// Inputs of the shapes that a model declares: floats from -1 to 1, and integers that stay within
// the smallest table they can index (bert's two types of token).
export const inputsOf = (ort, session, next) => {
  const inputs = {};
  for (const { name, type, shape } of session.inputMetadata) {
    const count = shape.reduce((product, dim) => product * dim, 1);
    if (!Number.isInteger(count)) throw new Error(`input ${name} has a dimension without a size`);
    if (!(type in dataTypes)) throw new Error(`input ${name} is of type ${type}`);
    const data = type === 'float32' ? new Float32Array(count) : new BigInt64Array(count);
    const limit = /token_type/.test(name) ? 2 : 50;
    for (let i = 0; i < count; ++i) {
      data[i] = type === 'float32' ? 2 * next() - 1 : BigInt(Math.floor(limit * next()));
    }
    inputs[name] = new ort.Tensor(type, data, shape);
  }
  return inputs;
};
