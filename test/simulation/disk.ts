import { constants, type Dirent, type Stats } from "node:fs";
import { basename, dirname } from "node:path";
import type { Disk } from "../../src/lib/file/disk.ts";
import { machineDisk } from "../../src/lib/file/machine-disk.ts";
import type { Scheduler, SimulatedProcess } from "./scheduler.ts";

interface FileNode {
  readonly kind: "file";
  readonly ino: number;
  bytes: Uint8Array;
  mode: number;
  mtimeMs: number;
  ctimeMs: number;
  /** When bytes were written that no sync has written to the disk. Undefined: there are none. */
  dirtyMs: number | undefined;
}
interface DirectoryNode {
  readonly kind: "directory";
  readonly ino: number;
  readonly entries: Map<string, Node>;
  mtimeMs: number;
  ctimeMs: number;
}
type Node = FileNode | DirectoryNode;

interface OpenFile {
  readonly node: Node;
  at: number;
}

/** A change of the file system that a loss of power can undo. */
interface Change {
  readonly atMs: number;
  readonly undo: () => void;
}

/** The longest time, ms, after which the system has written everything: Linux's 30 s and 5 s of the journal. */
const WRITE_BACK_MS = 35_000;
const BLOCK_BYTES = 4096;

const fault = (code: string, operation: string, path: string): Error =>
  Object.assign(new Error(`${code}: ${operation} '${path}'`), { code, path });

/** What the nemesis does to operations. Returns the code of an error, or undefined. */
export type DiskFault = (operation: string, path: string) => string | undefined;

/** How a file has come to a path, by itself or with a directory above it, or that it has gone. */
export type Arrival = "came" | "came below" | "gone";

/** The file system of one simulated machine, and its view by each process. */
export class SimulatedDisk {
  readonly #scheduler: Scheduler;
  readonly #root: DirectoryNode;
  readonly #changes: Change[] = [];
  readonly #open = new Map<number, OpenFile>();
  #nextIno = 2;
  #nextFile = 3;
  /** The number of blocks in use. */
  blocks = 0;
  /** How far the wall clock of the machine is ahead, ms. */
  aheadMs = 0;
  fault: DiskFault = () => undefined;
  /** Called when a file has come to a path, or has gone from it, also with a directory above. */
  changed: (path: string, change: Arrival, bytes: number) => void = () => {};

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
    this.#root = { kind: "directory", ino: 1, entries: new Map(), mtimeMs: 0, ctimeMs: 0 };
  }

  #now(): number {
    return Math.floor(this.#scheduler.nowMs + this.aheadMs);
  }

  #find(path: string): Node | undefined {
    let node: Node | undefined = this.#root;
    let from = 1;
    while (from <= path.length) {
      let to = path.indexOf("/", from);
      if (to < 0) to = path.length;
      if (to > from) {
        if (node?.kind !== "directory") return undefined;
        node = node.entries.get(path.slice(from, to));
      }
      from = to + 1;
    }
    return node;
  }

  #directory(path: string, operation: string): DirectoryNode {
    const node = this.#find(path);
    if (node === undefined) throw fault("ENOENT", operation, path);
    if (node.kind !== "directory") throw fault("ENOTDIR", operation, path);
    return node;
  }

  #file(path: string, operation: string): FileNode {
    const node = this.#find(path);
    if (node === undefined) throw fault("ENOENT", operation, path);
    if (node.kind !== "file") throw fault("EISDIR", operation, path);
    return node;
  }

  #did(undo: () => void): void {
    const nowMs = this.#scheduler.nowMs;
    this.#changes.push({ atMs: nowMs, undo });
    if (this.#changes.length > 4096 && (this.#changes[1024]?.atMs ?? nowMs) < nowMs - WRITE_BACK_MS)
      this.#changes.splice(0, 1024);
  }

  /** Puts a node in a directory, or takes it out. */
  #set(parent: DirectoryNode, name: string, node: Node | undefined): void {
    const before = parent.entries.get(name);
    const { mtimeMs, ctimeMs } = parent;
    if (node === undefined) parent.entries.delete(name);
    else parent.entries.set(name, node);
    parent.mtimeMs = this.#now();
    parent.ctimeMs = parent.mtimeMs;
    this.#did(() => {
      if (before === undefined) parent.entries.delete(name);
      else parent.entries.set(name, before);
      parent.mtimeMs = mtimeMs;
      parent.ctimeMs = ctimeMs;
    });
  }

  /** Loses what the system had not written yet: the last changes of directories, and the ends of files. */
  losePower(): number {
    const { chance, nowMs } = this.#scheduler;
    const keptMs = nowMs - chance.below(6_000);
    let lost = 0;
    for (let last = this.#changes.at(-1); last !== undefined && last.atMs > keptMs; last = this.#changes.at(-1)) {
      last.undo();
      lost++;
      this.#changes.pop();
    }
    this.#changes.length = 0;
    this.#open.clear();
    const tear = (node: Node, name: string): void => {
      if (node.kind === "directory") {
        node.entries.forEach(tear);
        return;
      }
      const { dirtyMs } = node;
      node.dirtyMs = undefined;
      if (dirtyMs === undefined || dirtyMs < nowMs - WRITE_BACK_MS || chance.below(2) === 0) return;
      // The product finds a cut-off end of a picture only.
      const isEmptied = !name.endsWith(".png") || chance.below(3) === 0;
      node.bytes = node.bytes.slice(0, isEmptied ? 0 : chance.below(node.bytes.byteLength + 1));
      lost++;
    };
    tear(this.#root, "");
    return lost;
  }

  /** Calls `look` with each file below a directory. */
  walk(path: string, look: (path: string, bytes: Uint8Array) => void): void {
    const walk = (at: string, node: Node | undefined): void => {
      if (node === undefined) return;
      if (node.kind === "file") look(at, node.bytes);
      else for (const [name, below] of node.entries) walk(`${at}/${name}`, below);
    };
    walk(path, this.#find(path));
  }

  read(path: string): Uint8Array | undefined {
    const node = this.#find(path);
    return node?.kind === "file" ? node.bytes : undefined;
  }

  /** Returns the disk as a process sees it. */
  seenBy(owner: SimulatedProcess): Disk {
    const operations = { ...this.#operations(owner), ...this.#waiting(owner) };
    const byName = new Map<string | symbol, unknown>(Object.entries(operations));
    return new Proxy(machineDisk, {
      get: (_, name) =>
        byName.get(name) ??
        (() => {
          throw new Error(`the simulated disk has no ${String(name)}`);
        }),
    });
  }

  #operations(owner: SimulatedProcess) {
    const begin = (operation: string, path: string): void => {
      owner.operation();
      const code = this.fault(operation, path);
      if (code !== undefined) throw fault(code, operation, path);
    };
    const create = (path: string, mode: number): FileNode => {
      const parent = this.#directory(dirname(path), "open");
      const now = this.#now();
      const node: FileNode = {
        kind: "file",
        ino: this.#nextIno++,
        bytes: new Uint8Array(0),
        mode,
        mtimeMs: now,
        ctimeMs: now,
        dirtyMs: undefined,
      };
      this.#set(parent, basename(path), node);
      return node;
    };
    const write = (node: FileNode, bytes: Uint8Array, at: number): void => {
      const end = at + bytes.byteLength;
      if (end > node.bytes.byteLength) {
        const longer = new Uint8Array(end);
        longer.set(node.bytes);
        node.bytes = longer;
      } else node.bytes = node.bytes.slice();
      node.bytes.set(bytes, at);
      node.mtimeMs = this.#now();
      node.ctimeMs = node.mtimeMs;
      node.dirtyMs = this.#scheduler.nowMs;
    };
    const openFile = (path: string, flags: string | number): FileNode => {
      const found = this.#find(path);
      if (found?.kind === "directory") throw fault("EISDIR", "open", path);
      const isNumber = typeof flags === "number";
      const creates = isNumber ? (flags & constants.O_CREAT) !== 0 : /[wa]/.test(flags);
      if (found === undefined) {
        if (!creates) throw fault("ENOENT", "open", path);
        return create(path, 0o644);
      }
      if (!isNumber && flags.includes("x")) throw fault("EEXIST", "open", path);
      if (!isNumber && flags.startsWith("w")) found.bytes = new Uint8Array(0);
      return found;
    };
    const bytesOf = (data: string | Uint8Array, encoding: BufferEncoding = "utf8"): Uint8Array =>
      typeof data === "string" ? new Uint8Array(Buffer.from(data, encoding)) : data;
    const opened = (file: number): OpenFile => {
      const found = this.#open.get(file);
      if (found === undefined) throw fault("EBADF", "file", String(file));
      return found;
    };
    const openedFile = (file: number): FileNode => {
      const { node } = opened(file);
      if (node.kind !== "file") throw fault("EISDIR", "file", String(file));
      return node;
    };
    const sync = (file: number): void => {
      begin("fsync", "");
      const { node } = opened(file);
      if (node.kind === "file") node.dirtyMs = undefined;
      // The journal is written with all changes before.
      this.#changes.length = 0;
    };
    const encodingOf = (options: unknown): BufferEncoding | undefined => {
      const encoding =
        typeof options === "object" && options !== null && "encoding" in options ? options.encoding : options;
      return typeof encoding === "string" && Buffer.isEncoding(encoding) ? encoding : undefined;
    };
    const stat = (path: string, options?: { readonly throwIfNoEntry?: boolean }): Stats | undefined => {
      begin("stat", path);
      const node = this.#find(path);
      if (node !== undefined) return statsOf(node);
      if (options?.throwIfNoEntry === false) return undefined;
      throw fault("ENOENT", "stat", path);
    };
    const remove = (path: string, operation: string): void => {
      const node = this.#find(path);
      if (node === undefined) throw fault("ENOENT", operation, path);
      this.#set(this.#directory(dirname(path), operation), basename(path), undefined);
      this.#tell(path, node, "gone");
    };
    return {
      chmodSync: (path: string, mode: number) => {
        begin("chmod", path);
        const node = this.#find(path);
        if (node === undefined) throw fault("ENOENT", "chmod", path);
        if (node.kind === "file") node.mode = mode;
        node.ctimeMs = this.#now();
      },
      closeSync: (file: number) => {
        owner.operation();
        this.#open.delete(file);
      },
      existsSync: (path: string) => {
        owner.operation();
        return this.#find(path) !== undefined;
      },
      fdatasyncSync: sync,
      fstatSync: (file: number) => {
        owner.operation();
        return statsOf(opened(file).node);
      },
      fsyncSync: sync,
      lstatSync: stat,
      statSync: stat,
      mkdirSync: (path: string, options?: { readonly recursive?: boolean }) => {
        begin("mkdir", path);
        const found = this.#find(path);
        if (found !== undefined) {
          if (options?.recursive === true && found.kind === "directory") return undefined;
          throw fault("EEXIST", "mkdir", path);
        }
        const names = path.split("/").filter((name) => name !== "");
        let parent = this.#root;
        for (const [n, name] of names.entries()) {
          const below = parent.entries.get(name);
          if (below?.kind === "file") throw fault("ENOTDIR", "mkdir", path);
          if (below !== undefined) {
            parent = below;
            continue;
          }
          if (n < names.length - 1 && options?.recursive !== true) throw fault("ENOENT", "mkdir", path);
          const now = this.#now();
          const made: DirectoryNode = {
            kind: "directory",
            ino: this.#nextIno++,
            entries: new Map(),
            mtimeMs: now,
            ctimeMs: now,
          };
          this.#set(parent, name, made);
          parent = made;
        }
        return path;
      },
      openSync: (path: string, flags: string | number = "r") => {
        begin("open", path);
        const file = this.#nextFile++;
        const found = this.#find(path);
        const isDirectory = found?.kind === "directory" && (flags === "r" || flags === constants.O_RDONLY);
        this.#open.set(file, { node: isDirectory ? found : openFile(path, flags), at: 0 });
        return file;
      },
      readdirSync: (path: string, options?: { readonly withFileTypes?: boolean }) => {
        begin("readdir", path);
        const { entries } = this.#directory(path, "readdir");
        return options?.withFileTypes === true
          ? [...entries].map(([name, node]) => direntOf(path, name, node))
          : [...entries.keys()];
      },
      readFileSync: (path: string | number, options?: unknown) => {
        const name = String(path);
        begin("read", name);
        const { bytes } = typeof path === "number" ? openedFile(path) : this.#file(path, "read");
        const encoding = encodingOf(options);
        return encoding === undefined ? Buffer.from(bytes) : Buffer.from(bytes).toString(encoding);
      },
      readSync: (file: number, into: Uint8Array, offset: number, length: number, position: number | null) => {
        begin("read", "");
        const one = opened(file);
        const from = position ?? one.at;
        const part = openedFile(file).bytes.subarray(from, from + length);
        into.set(part, offset);
        if (position === null) one.at += part.byteLength;
        return part.byteLength;
      },
      realpathSync: (path: string) => {
        begin("realpath", path);
        if (this.#find(path) === undefined) throw fault("ENOENT", "realpath", path);
        return path;
      },
      renameSync: (from: string, to: string) => {
        begin("rename", from);
        const node = this.#find(from);
        if (node === undefined) throw fault("ENOENT", "rename", from);
        const target = this.#directory(dirname(to), "rename");
        const before = this.#find(to);
        if (before?.kind === "directory" && before.entries.size > 0) throw fault("ENOTEMPTY", "rename", to);
        this.#set(this.#directory(dirname(from), "rename"), basename(from), undefined);
        this.#set(target, basename(to), node);
        node.ctimeMs = this.#now();
        this.#tell(from, node, "gone");
        this.#tell(to, node, "came");
      },
      rmdirSync: (path: string) => {
        begin("rmdir", path);
        if (this.#directory(path, "rmdir").entries.size > 0) throw fault("ENOTEMPTY", "rmdir", path);
        remove(path, "rmdir");
      },
      rmSync: (path: string, options?: { readonly force?: boolean; readonly recursive?: boolean }) => {
        begin("rm", path);
        if (this.#find(path) === undefined && options?.force === true) return;
        remove(path, "rm");
      },
      statfsSync: () => {
        owner.operation();
        return { bsize: BLOCK_BYTES, type: 0xef53, bavail: 1e9, blocks: 2e9, bfree: 1e9, ffree: 1e9, files: 2e9 };
      },
      unlinkSync: (path: string) => {
        begin("unlink", path);
        this.#file(path, "unlink");
        remove(path, "unlink");
      },
      utimesSync: (path: string, _: unknown, modified: number | Date) => {
        begin("utimes", path);
        const node = this.#find(path);
        if (node === undefined) throw fault("ENOENT", "utimes", path);
        node.mtimeMs = typeof modified === "number" ? modified * 1000 : modified.getTime();
        node.ctimeMs = this.#now();
      },
      writeFileSync: (path: string, data: string | Uint8Array, options?: unknown) => {
        begin("open", path);
        const node = openFile(path, "w");
        begin("write", path);
        write(node, bytesOf(data, encodingOf(options)), 0);
      },
      writeSync: (file: number, data: string | Uint8Array, from?: number | null) => {
        const one = opened(file);
        begin("write", "");
        const bytes = typeof data === "string" ? bytesOf(data) : data.subarray(from ?? 0);
        // A process may be killed between two parts of its writes.
        const part = bytes.byteLength > 64 && this.#scheduler.chance.below(16) === 0 ? bytes.subarray(0, 64) : bytes;
        write(openedFile(file), part, typeof data === "string" && from != null ? from : one.at);
        one.at += part.byteLength;
        return part.byteLength;
      },
    };
  }

  #tell(path: string, node: Node, change: Arrival): void {
    if (node.kind === "file") this.changed(path, change, node.bytes.byteLength);
    else
      for (const [name, below] of node.entries)
        this.#tell(`${path}/${name}`, below, change === "gone" ? "gone" : "came below");
  }

  /** Operations that take time: they happen at their end. */
  #waiting(owner: SimulatedProcess) {
    const sync = this.#operations(owner);
    const { chance } = this.#scheduler;
    const later =
      <A extends readonly unknown[], T>(work: (...args: A) => T) =>
      (...args: A): Promise<T> =>
        new Promise((resolve, reject) => {
          owner.later(0.05 + chance.below(20) / 10, () => {
            try {
              resolve(work(...args));
            } catch (error) {
              reject(error);
            }
          });
        });
    return {
      access: later((path: string) => {
        if (!sync.existsSync(path)) throw fault("ENOENT", "access", path);
      }),
      lstat: later(sync.lstatSync),
      stat: later(sync.statSync),
      mkdir: later(sync.mkdirSync),
      open: later((path: string, flags: string | number) => {
        const file = sync.openSync(path, flags);
        return { close: later(() => sync.closeSync(file)), sync: later(() => sync.fsyncSync(file)) };
      }),
      opendir: later((path: string) => {
        const entries = sync.readdirSync(path, { withFileTypes: true });
        return (async function* () {
          for (const entry of entries) yield entry;
        })();
      }),
      readdir: later(sync.readdirSync),
      realpath: later(sync.realpathSync),
      rename: later(sync.renameSync),
      rm: later(sync.rmSync),
      rmdir: later(sync.rmdirSync),
      statfs: later(sync.statfsSync),
      unlink: later(sync.unlinkSync),
      utimes: later(sync.utimesSync),
      writeFile: later(sync.writeFileSync),
      readFile: later(sync.readFileSync),
    };
  }
}

type Kind = Pick<Stats, "isFile" | "isDirectory" | "isSymbolicLink">;

const kindOf = (node: Node): Kind => ({
  isFile: () => node.kind === "file",
  isDirectory: () => node.kind === "directory",
  isSymbolicLink: () => false,
});

/** The fields of Node's type that the product reads. */
const statsOf = (node: Node): Stats =>
  ({
    ...kindOf(node),
    dev: 1,
    ino: node.ino,
    mode: node.kind === "file" ? node.mode : 0o755,
    size: node.kind === "file" ? node.bytes.byteLength : 4096,
    mtimeMs: node.mtimeMs,
    ctimeMs: node.ctimeMs,
  }) as Stats;

const direntOf = (parentPath: string, name: string, node: Node): Dirent =>
  ({ ...kindOf(node), name, parentPath }) as Dirent;
