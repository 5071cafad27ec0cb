import { type ExecFileSyncOptionsWithStringEncoding, execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";

const PROGRAMS = "/usr/lib/postgresql";
const START_MS = 60_000;

/** The directory of the programs of the newest PostgreSQL on this machine; undefined: there is none. */
const programs = existsSync(PROGRAMS)
  ? readdirSync(PROGRAMS)
      .sort((a, b) => Number(b) - Number(a))
      .map((version) => join(PROGRAMS, version, "bin"))
      .find((bin) => existsSync(join(bin, "initdb")))
  : undefined;

/** Whether a server of PostgreSQL can be started. It does not run as root, so root starts it as another account. */
export const hasPostgres = programs !== undefined;

const isRoot = userInfo().uid === 0;

function run(program: string, args: readonly string[]): void {
  const path = join(programs ?? "", program);
  // The server must not keep the pipes of its parent open.
  const options: ExecFileSyncOptionsWithStringEncoding = { encoding: "utf8", stdio: "ignore" };
  if (isRoot) execFileSync("runuser", ["-u", "postgres", "--", path, ...args], options);
  else execFileSync(path, [...args], options);
}

/** A server of PostgreSQL that listens on a Unix socket alone. */
export interface Postgres {
  readonly directory: string;
  /** The path of its socket. */
  readonly socket: string;
  /** Returns the address of a database, for the account `nuthatch`. */
  url(database: string): string;
  /** Runs SQL as the account that owns everything. */
  sql(text: string, database?: string): string;
  /** Puts a line before the other lines of `pg_hba.conf`. */
  allow(line: string): void;
  /** `settings`: settings that differ from the defaults, such as `-c ssl=on`. */
  start(settings?: string): void;
  readonly isRunning: boolean;
  /** `immediate`: all its processes end at once, as by a kill. */
  stop(mode: "fast" | "immediate"): void;
}

/** Describes the server in a directory. */
function postgresIn(directory: string, fsync: "on" | "off" = "off"): Postgres {
  const data = join(directory, "data");
  return {
    directory,
    socket: join(directory, ".s.PGSQL.5432"),
    url: (database) => `postgres://nuthatch@/${database}?host=${encodeURIComponent(directory)}`,
    sql: (text, database = "postgres") =>
      execFileSync(
        join(programs ?? "", "psql"),
        ["-XqAt", "-h", directory, "-U", "nuthatch", "-d", database, "-c", text],
        {
          encoding: "utf8",
        },
      ).trim(),
    allow: (line) => {
      const file = join(data, "pg_hba.conf");
      writeFileSync(file, `${line}\n${readFileSync(file, "utf8")}`);
      run("pg_ctl", ["-D", data, "reload"]);
    },
    start: (different = "") => {
      const settings = `-c listen_addresses= -c unix_socket_directories=${directory} -c fsync=${fsync} -c max_connections=200 ${different}`;
      run("pg_ctl", ["-D", data, "-w", "-l", join(directory, "log"), "-o", settings, "start"]);
    },
    get isRunning() {
      return existsSync(join(data, "postmaster.pid"));
    },
    stop: (mode) => run("pg_ctl", ["-D", data, "-w", "-m", mode, "stop"]),
  };
}

/** Gives a directory and its content to the account of PostgreSQL. */
export function giveToPostgres(directory: string): void {
  if (isRoot) execFileSync("chown", ["-R", "postgres", directory]);
}

/** Makes a standby of a server, which replicates each commit before it is acknowledged, and starts it. */
export function startStandby(primary: Postgres, directory: string): Postgres & { promote(): void } {
  mkdirSync(directory, { recursive: true });
  giveToPostgres(directory);
  const data = join(directory, "data");
  run("pg_basebackup", ["-h", primary.directory, "-U", "nuthatch", "-D", data, "-R", "-c", "fast", "--no-sync"]);
  const standby = postgresIn(directory);
  standby.start();
  primary.sql("ALTER SYSTEM SET synchronous_standby_names = '*'");
  primary.sql("SELECT pg_reload_conf()");
  return { ...standby, promote: () => run("pg_ctl", ["-D", data, "-w", "promote"]) };
}

/** Makes a server in a new directory, and starts it. `fsync`: whether a commit waits for the disk. */
export function startPostgres(directory: string, fsync: "on" | "off" = "off"): Postgres {
  mkdirSync(directory, { recursive: true });
  giveToPostgres(directory);
  // Outside of a run of the tests the copied data would never be removed.
  if (sharedDirectory === "") makeData(directory);
  else execFileSync("cp", ["-a", join(emptyData(), "data"), directory]);
  const postgres = postgresIn(directory, fsync);
  postgres.start();
  return postgres;
}

function makeData(directory: string): void {
  const data = join(directory, "data");
  run("initdb", ["-D", data, "-A", "trust", "-U", "nuthatch", "--no-sync", "--locale=C", "--encoding=UTF8"]);
}

const sharedDirectory = process.env["NUTHATCH_TEST_POSTGRES"] ?? "";
/** Has the data of a new server, of which each server of this run has a copy: to make them takes ten times as long. */
const emptyDirectory = `${sharedDirectory}-empty`;

/** Returns the server of this run of the tests. The first caller starts it, whichever process it is in. */
export function sharedPostgres(): Postgres {
  return postgresIn(onceIn(sharedDirectory, () => startPostgres(sharedDirectory)));
}

const emptyData = (): string =>
  onceIn(emptyDirectory, () => {
    giveToPostgres(emptyDirectory);
    makeData(emptyDirectory);
  });

/** Returns a directory that the first caller of all processes fills. */
function onceIn(directory: string, fill: () => void): string {
  const ready = join(directory, "ready");
  const isFirst = mkdirSync(directory, { recursive: true }) !== undefined;
  if (isFirst) {
    fill();
    writeFileSync(ready, "");
  }
  const asleep = new Int32Array(new SharedArrayBuffer(4));
  const until = Date.now() + START_MS;
  while (!existsSync(ready)) {
    if (Date.now() > until) throw new Error(`PostgreSQL has not started: ${logOf(directory)}`);
    Atomics.wait(asleep, 0, 0, 20);
  }
  return directory;
}

const logOf = (directory: string): string => {
  const log = join(directory, "log");
  return existsSync(log) ? readFileSync(log, "utf8").slice(-2000) : "no log";
};

/** Ends the server of this run, and removes it. */
export function removeSharedPostgres(): void {
  if (sharedDirectory === "") return;
  removePostgres(sharedDirectory);
  removePostgres(emptyDirectory);
}

/** Ends a server, and removes its directory. */
export function removePostgres(directory: string): void {
  const postgres = postgresIn(directory);
  if (postgres.isRunning) postgres.stop("immediate");
  rmSync(directory, { recursive: true, force: true });
}

/** Returns a name of a schema for the state that other tests would put into a file. */
export const schemaOf = (file: string): string => `s${createHash("sha256").update(file).digest("hex").slice(0, 24)}`;
