import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Decoder } from "./decoder.ts";

const ROOT = join(import.meta.dirname, "corpus");

/** Returns the inputs of a decoder: its examples, and those in `corpus/`, which showed a fault once. */
export function inputsOf({ name, examples }: Decoder): readonly Uint8Array[] {
  const directory = join(ROOT, name);
  const kept = existsSync(directory) ? readdirSync(directory).sort() : [];
  return [...examples(), ...kept.map((file) => readFileSync(join(directory, file)))];
}

/** Keeps an input that shows a fault. Returns its path. */
export function keep({ name }: Decoder, input: Uint8Array): string {
  const directory = join(ROOT, name);
  mkdirSync(directory, { recursive: true });
  const path = join(directory, createHash("sha256").update(input).digest("hex").slice(0, 12));
  writeFileSync(path, input);
  return path;
}
