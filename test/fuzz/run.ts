import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { exitWithUsage } from "../support/usage.ts";
import { inputsOf, keep } from "./corpus.ts";
import { fileDecoders } from "./file-decoders.ts";
import { fuzz } from "./fuzz.ts";
import { textDecoders } from "./text-decoders.ts";

const directory = mkdtempSync(join(tmpdir(), "nuthatch-fuzz-"));
const all = [...textDecoders, ...fileDecoders(directory)];
exitWithUsage(`npm run fuzz [-- DECODER… --seconds N --seed S]

Changes inputs of each decoder of foreign bytes. An input that shows a fault is kept in test/fuzz/corpus, where the test
of the gate decodes it again.

DECODER      one of ${all.map(({ name }) => name).join(", ")}. Default: all
--seconds N  the time for each decoder. Default: 20
--seed S     repeats a run. Default: a new seed, which is printed`);
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: "string", default: "20" },
    seed: { type: "string", default: String(Date.now() % 2 ** 31) },
  },
});
const unknown = positionals.filter((name) => !all.some((decoder) => decoder.name === name));
if (unknown.length > 0)
  throw new Error(`unknown: ${unknown.join(", ")}; there are ${all.map(({ name }) => name).join(", ")}`);
const chosen = positionals.length === 0 ? all : all.filter(({ name }) => positionals.includes(name));
console.log(`seed ${values.seed}`);
let faults = 0;
for (const decoder of chosen) {
  const limits = { inputs: Number.POSITIVE_INFINITY, ms: Number(values.seconds) * 1000 };
  const { inputs, outcomes, finds } = await fuzz(decoder, inputsOf(decoder), Number(values.seed), limits);
  console.log(`${decoder.name}: ${inputs} inputs, ${outcomes} outcomes, ${finds.length} faults`);
  for (const { input, reason } of finds) console.log(`  ${keep(decoder, input)}\n  ${reason}`);
  faults += finds.length;
}
rmSync(directory, { recursive: true, force: true });
process.exitCode = faults === 0 ? 0 : 1;
