import { seededRandom } from "../support/random.ts";
import type { Decoder } from "./decoder.ts";
import { mutant } from "./mutate.ts";

/**
 * The most that one decoding may take: a base for what any input costs, such as a file or a query, and a share of each
 * byte of the input.
 */
const BASE_MS = 100;
const MS_PER_BYTE = 0.05;
const BASE_BYTES = 96 * 1024 * 1024;
const BYTES_PER_BYTE = 4096;
/** Measured as time of the processor. A collection of garbage makes one measurement too long, but not each of these. */
const TRIES = 5;

export interface Find {
  readonly input: Uint8Array;
  readonly reason: string;
}

export interface FuzzResult {
  readonly inputs: number;
  /** The different outcomes: values by kind, refusals by their text without what differs. */
  readonly outcomes: number;
  readonly finds: readonly Find[];
}

export interface FuzzLimits {
  /** Ends after so many inputs. */
  readonly inputs: number;
  /** Ends before, after so many ms. */
  readonly ms: number;
}

const describe = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : String(error));

/** Returns the reason why the decoding of an input is a fault, and the outcome. Undefined: it is none. */
export async function judge(
  decoder: Decoder,
  input: Uint8Array,
): Promise<{ outcome: string; fault: string | undefined }> {
  let least = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < TRIES; tries++) {
    const memory = process.memoryUsage();
    const began = process.cpuUsage();
    let outcome: string;
    try {
      outcome = await decoder.decode(Uint8Array.from(input));
    } catch (error) {
      if (!decoder.refusals.some((kind) => error instanceof kind) || isProgramFault(error))
        return { outcome: "fault", fault: `threw ${describe(error)}` };
      outcome = `refused: ${error instanceof Error ? error.message : ""}`;
    }
    const { user, system } = process.cpuUsage(began);
    const ms = (user + system) / 1000;
    const after = process.memoryUsage();
    const bytes = after.heapUsed + after.arrayBuffers - memory.heapUsed - memory.arrayBuffers;
    if (bytes > BASE_BYTES + BYTES_PER_BYTE * input.length) return { outcome, fault: `took ${bytes} bytes` };
    least = Math.min(least, ms);
    if (least <= BASE_MS + MS_PER_BYTE * input.length) return { outcome, fault: undefined };
  }
  return { outcome: "slow", fault: `took ${least.toFixed(0)} ms` };
}

/** Errors that only a fault of the program throws. A decoder that refuses by plain errors must not pass them on. */
const isProgramFault = (error: unknown): boolean =>
  error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError;

/** Outcomes that differ only in names, numbers and positions are one. */
const formOf = (outcome: string): string =>
  outcome
    .replaceAll(/\\"(?:[^"\\]|\\{2})*\\"|[\d.]+/g, "#")
    .replace(/, got .*/s, "")
    .slice(0, 120);

/**
 * Decodes changed inputs of a corpus. An input with an outcome that no input had before joins the corpus of this run,
 * so that the next changes begin behind the refusals that are known.
 */
export async function fuzz(
  decoder: Decoder,
  kept: readonly Uint8Array[],
  seed: number,
  limits: FuzzLimits,
): Promise<FuzzResult> {
  const random = seededRandom(seed);
  const corpus = [...kept];
  const outcomes = new Set<string>();
  const finds: Find[] = [];
  const began = performance.now();
  let inputs = 0;
  const look = async (input: Uint8Array): Promise<void> => {
    inputs++;
    const { outcome, fault } = await judge(decoder, input);
    if (fault !== undefined) finds.push({ input, reason: fault });
    const form = formOf(fault ?? outcome);
    if (outcomes.has(form)) return;
    outcomes.add(form);
    corpus.push(input);
  };
  for (const input of kept) await look(input);
  while (inputs < limits.inputs && finds.length < 20 && performance.now() - began < limits.ms)
    await look(mutant(random, { corpus, words: decoder.words }));
  return { inputs, outcomes: outcomes.size, finds };
}
