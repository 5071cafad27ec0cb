import { spawnSync } from "node:child_process";
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * Ways in which an operation goes wrong.
 * - `kill`: all processes of the server end before the operation; `die`: only the process that was to make it.
 * - `torn`: half of the bytes are written, then all processes end.
 * - `fail`: the operation has an error and no effect; `fail-after`: the effect and an error.
 * - `full`: from this operation on, nothing that takes space succeeds.
 * - `hang`: the operation does not return; then all processes are killed. `stall`: it returns after a while.
 */
export const MODES = ["kill", "die", "torn", "fail", "fail-after", "full", "hang", "stall"] as const;
export type Mode = (typeof MODES)[number];
export const isMode = (name: string): name is Mode => MODES.some((mode) => mode === name);

/** The numbers of the modes in `fault-shim.c`; 0 only counts. */
const NUMBERS: Readonly<Record<Mode, number>> = {
  kill: 1,
  die: 2,
  fail: 3,
  "fail-after": 4,
  hang: 5,
  stall: 5,
  torn: 6,
  full: 7,
};

export type FaultCode = "ENOSPC" | "EIO";

export interface Fault {
  readonly mode: Mode;
  /** The number of the operation, from 1. */
  readonly at: number;
  /** The error of `fail` and `fail-after`. */
  readonly code: FaultCode;
}

/** An operation at a seam, as the shim writes it. */
export interface Operation {
  readonly n: number;
  readonly pid: number;
  readonly kind: string;
  readonly path: string;
}

const FIELDS = [
  "armed",
  "mode",
  "at",
  "error",
  "count",
  "hit",
  "hitPid",
  "hitTid",
  "released",
  "messages",
  "port",
  "only",
] as const;
type Field = (typeof FIELDS)[number];
/** The kinds of operations, in the order of `fault-shim.c`. */
const KINDS = [
  "open",
  "write",
  "sync",
  "truncate",
  "rename",
  "unlink",
  "rmdir",
  "mkdir",
  "link",
  "touch",
  "message",
  "request",
  "answer",
] as const;
type Kind = (typeof KINDS)[number];
const TEXT_BYTES = 400;
const PAGE_BYTES = 4096;

/** Messages between processes, and answers, can be lost only with their process. */
export const countsMessages = (mode: Mode): boolean => mode === "kill" || mode === "die";

/** The control page that the shim in the processes of a server reads. */
export class FaultControl {
  /** Variables for the environment of a server whose operations under `under` count. */
  readonly env: Readonly<Record<string, string>>;
  readonly #directory: string;
  readonly #page: number;
  readonly #trace: string;

  private constructor(directory: string, library: string, under: readonly string[]) {
    this.#directory = directory;
    this.#trace = join(directory, "trace");
    const file = join(directory, "control");
    writeFileSync(file, Buffer.alloc(PAGE_BYTES));
    this.#page = openSync(file, "r+");
    this.env = {
      LD_PRELOAD: library,
      FAULTS_CONTROL: file,
      FAULTS_TRACE: this.#trace,
      FAULTS_UNDER: under.join(":"),
      // libuv would pass operations to the kernel past the functions of the C library.
      UV_USE_IO_URING: "0",
    };
  }

  /** Undefined: there is no C compiler, or this is no Linux. */
  static start(under: readonly string[]): FaultControl | undefined {
    const library = builtShim();
    return library === undefined
      ? undefined
      : new FaultControl(mkdtempSync(join(tmpdir(), "nuthatch-faults-")), library, under);
  }

  /**
   * Counts from 1. Undefined: nothing goes wrong. `messages`: whether messages between processes and answers count;
   * `port`: requests to this port count.
   */
  arm(
    fault: Fault | undefined,
    { messages, port = 0 }: { readonly messages: boolean; readonly port?: number | undefined },
  ): void {
    this.#set("armed", 0);
    for (const field of FIELDS) this.#set(field, 0);
    // The processes have the file open.
    writeFileSync(this.#trace, "");
    if (fault !== undefined) {
      this.#set("mode", NUMBERS[fault.mode]);
      this.#set("at", fault.at);
      this.#set("error", constants.errno[fault.mode === "full" ? "ENOSPC" : fault.code]);
    }
    this.#set("messages", messages ? 1 : 0);
    this.#set("port", port);
    this.#set("armed", 1);
  }

  /** Lets the first operation of a kind go wrong: the operations before are counted first. */
  armAt(mode: Mode, kind: Kind): void {
    this.arm({ mode, at: 1, code: "EIO" }, { messages: false });
    this.#set("only", KINDS.indexOf(kind) + 1);
  }

  disarm(): void {
    this.#set("armed", 0);
  }

  /** Lets an operation that hangs return. */
  release(): void {
    this.#set("released", 1);
  }

  get count(): number {
    return this.#get("count");
  }

  /** The operation that went wrong; undefined: none has yet. */
  get hit(): { readonly text: string; readonly pid: number; readonly isMainThread: boolean } | undefined {
    if (this.#get("hit") === 0) return undefined;
    const text = this.#read(FIELDS.length * 4, TEXT_BYTES)
      .toString("utf8")
      .replace(/\0.*$/s, "");
    const pid = this.#get("hitPid");
    return { text, pid, isMainThread: pid === this.#get("hitTid") };
  }

  /** The operations since the page was armed last. */
  operations(): readonly Operation[] {
    if (!existsSync(this.#trace)) return [];
    return readFileSync(this.#trace, "utf8")
      .split("\n")
      .flatMap((line) => {
        const [, n, pid, , kind = "", , path = ""] = /^(\d+) (\d+) (\d+) (\w+) (-?\d+) (.*)$/.exec(line) ?? [];
        return n === undefined ? [] : [{ n: Number(n), pid: Number(pid), kind, path }];
      });
  }

  close(): void {
    closeSync(this.#page);
    rmSync(this.#directory, { recursive: true, force: true });
  }

  #read(position: number, length: number): Buffer {
    const bytes = Buffer.alloc(length);
    readSync(this.#page, bytes, 0, length, position);
    return bytes;
  }

  #get(field: Field): number {
    return this.#read(FIELDS.indexOf(field) * 4, 4).readUInt32LE();
  }

  #set(field: Field, value: number): void {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32LE(value);
    writeSync(this.#page, bytes, 0, 4, FIELDS.indexOf(field) * 4);
  }
}

let built: { readonly library: string | undefined } | undefined;

function builtShim(): string | undefined {
  built ??= { library: buildShim() };
  return built.library;
}

function buildShim(): string | undefined {
  const directory = mkdtempSync(join(tmpdir(), "nuthatch-fault-shim-"));
  process.once("exit", () => rmSync(directory, { recursive: true, force: true }));
  const library = join(directory, "shim.so");
  const source = fileURLToPath(new URL("./fault-shim.c", import.meta.url));
  const { status } = spawnSync("cc", ["-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], { encoding: "utf8" });
  return status === 0 ? library : undefined;
}
