// Calls a JavaScript function as it is told. It is read from standard input, and its calls from
// descriptor 3. The protocol is that of `servant.py`; numbers are floats, plain objects dictionaries, whatever else is `other`.
"use strict";

const fs = require("node:fs");
const path = require("node:path");
const readline = require("node:readline");
const { pathToFileURL } = require("node:url");

const write = fs.writeSync;
const stringify = JSON.stringify;
process.stdout.write = process.stderr.write.bind(process.stderr);

function encode(value) {
  if (value === null || typeof value === "boolean" || typeof value === "string") return value;
  if (typeof value === "number") return { float: Object.is(value, -0) ? "-0.0" : String(value) };
  if (typeof value === "bigint") return { int: (value < 0n ? "-0x" : "0x") + (value < 0n ? -value : value).toString(16) };
  if (Array.isArray(value)) return Array.from(value, encode);
  if (typeof value === "object") {
    const prototype = Object.getPrototypeOf(value);
    if (prototype === null || prototype === Object.prototype) {
      return { dict: Object.entries(value).map(([key, each]) => [key, encode(each)]) };
    }
    if (value instanceof Uint8Array) return { bytes: Buffer.from(value).toString("hex") };
    return { other: String(value.constructor && value.constructor.name), text: "" };
  }
  return { other: typeof value, text: "" };
}

function decode(wire) {
  if (wire === null || typeof wire !== "object") return wire;
  if (Array.isArray(wire)) return wire.map(decode);
  const [[kind, content]] = Object.entries(wire);
  if (kind === "float") return Number(content === "nan" ? NaN : content.replace("inf", "Infinity"));
  if (kind === "bytes") return Buffer.from(content, "hex");
  if (kind === "dict") return Object.fromEntries(content.map(([key, each]) => [key, decode(each)]));
  throw new TypeError(`${kind} has no counterpart`);
}

async function subject(name) {
  const at = name.lastIndexOf(":");
  const place = name.slice(0, at);
  const url = place.startsWith(".") ? pathToFileURL(path.resolve(place)).href : place;
  const module = await import(url);
  const find = (from) => name.slice(at + 1).split(".").reduce((found, part) => (found == null ? found : found[part]), from);
  return find(module) ?? find(module.default);
}

async function answer(name, call) {
  try {
    const called = await subject(name);
    if (!("arguments" in call)) return { value: null };
    return { value: encode(await called(...call.arguments.map(decode))) };
  } catch (error) {
    const known = error instanceof Error;
    return { raised: { type: known ? error.name : typeof error, message: String(known ? error.message : error).slice(0, 2000) } };
  }
}

function tell(line) {
  for (let rest = Buffer.from(line); rest.length; ) {
    try {
      rest = rest.subarray(write(1, rest));
    } catch (error) {
      if (error.code !== "EAGAIN") throw error;
    }
  }
}

async function main() {
  let name = "";
  for await (const line of readline.createInterface({ input: fs.createReadStream(null, { fd: 3 }) })) {
    const call = JSON.parse(line);
    name = call.subject ?? name;
    tell(`${stringify({ id: call.id, ...(await answer(name, call)) })}\n`);
  }
  process.exit(0);
}

main();
