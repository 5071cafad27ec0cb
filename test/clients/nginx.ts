import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request as requestTls } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { AUTHORITY, SERVER_CERTIFICATE } from "../support/network/certificates.ts";
import { freePort } from "./tinyproxy.ts";

const PROGRAM = "/usr/sbin/nginx";
export const hasNginx = existsSync(PROGRAM);

export interface Nginx {
  /** `https://localhost:PORT`. */
  readonly origin: string;
  close(): Promise<void>;
}

/** Where nginx and the server are. */
export interface NginxPlace {
  /** The address and port of the server. */
  readonly server: string;
  readonly name: string;
  /** The address and port to listen on. */
  readonly listen: string;
  /** The beginning of a command that runs nginx elsewhere. */
  readonly under?: readonly string[];
  /** `outside`: the file lists no address of this machine. */
  readonly from?: "the own network" | "outside";
  /** Returns whether nginx answers. */
  readonly answers: () => Promise<boolean>;
}

/** Starts Debian's nginx on this machine. */
export async function startNginx(
  serverPort: number,
  from: "the own network" | "outside" = "the own network",
): Promise<Nginx> {
  const listen = `127.0.0.1:${await freePort()}`;
  const origin = `https://localhost:${listen.split(":")[1]}`;
  const answers = (): Promise<boolean> =>
    exchange(`${origin}/`).then(
      () => true,
      () => false,
    );
  const close = await runNginx({ server: `127.0.0.1:${serverPort}`, name: "localhost", listen, answers, from });
  return { origin, close };
}

/**
 * Runs Debian's nginx with `examples/nginx.conf`, its addresses and certificates replaced. Returns the function that
 * ends it.
 */
export async function runNginx({
  server,
  name,
  listen,
  under = [],
  answers,
  from: place = "the own network",
}: NginxPlace): Promise<() => Promise<void>> {
  const directory = mkdtempSync(join(tmpdir(), "nuthatch-nginx-"));
  const file = (name: string, text: string): string => {
    const path = join(directory, name);
    writeFileSync(path, text);
    return path;
  };
  const cert = file("cert.pem", SERVER_CERTIFICATE.cert);
  const key = file("key.pem", SERVER_CERTIFICATE.key);
  const example = readFileSync(fileURLToPath(new URL("../../examples/nginx.conf", import.meta.url)), "utf8");
  const site = [
    ["server 127.0.0.1:8080;", `server ${server};`],
    ["listen 443 ssl;", `listen ${listen} ssl;`],
    ["server_name maps.example.org;", `server_name ${name};`],
    [/ssl_certificate .*;/, `ssl_certificate ${cert};`],
    [/ssl_certificate_key .*;/, `ssl_certificate_key ${key};`],
    ...(place === "outside" ? [[/allow 127\.0\.0\.1;/g, ""]] : []),
  ].reduce((text, [from = "", to = ""]) => {
    if (text.search(from) < 0) throw new Error(`examples/nginx.conf lacks ${from}`);
    return text.replace(from, String(to));
  }, example);
  return runSite(directory, site, { under, answers });
}

/**
 * Runs Debian's nginx with a file of `conf.d`. Returns the function that ends it.
 * @param directory its own, which is removed at the end
 */
export async function runSite(
  directory: string,
  site: string,
  { under = [], answers }: Pick<NginxPlace, "under" | "answers">,
): Promise<() => Promise<void>> {
  const file = (name: string, text: string): string => {
    const path = join(directory, name);
    writeFileSync(path, text);
    return path;
  };
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => {
    mkdirSync(join(directory, name));
    return `${name}_temp_path ${join(directory, name)};`;
  });
  const log = join(directory, "error.log");
  const configuration = file(
    "nginx.conf",
    `daemon off; worker_processes 1; pid ${join(directory, "pid")}; error_log ${log};\n` +
      `events {}\nhttp {\naccess_log off;\n${temporary.join("\n")}\n${site}\n}\n`,
  );
  const [program = "", ...args] = [...under, PROGRAM, "-e", log, "-p", directory, "-c", configuration];
  const child = spawn(program, args, { stdio: "ignore" });
  const ended = once(child, "exit");
  // It does not report when it listens.
  while (child.exitCode === null && !(await answers()));
  if (child.exitCode !== null) throw new Error(`nginx ended with ${child.exitCode}: ${readFileSync(log, "utf8")}`);
  return async () => {
    child.kill("SIGTERM");
    await ended;
    rmSync(directory, { recursive: true, force: true });
  };
}

export interface Exchanged {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** Sends one request over TLS and reads the answer. `until`: the answer is left once its text so far satisfies this. */
export function exchange(
  url: string,
  options: {
    readonly method?: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string;
    readonly until?: (text: string) => boolean;
  } = {},
): Promise<Exchanged> {
  const { method = "GET", headers = {}, body, until } = options;
  return new Promise((resolve, reject) => {
    const request = requestTls(url, { method, headers, ca: AUTHORITY, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      const finish = (): void =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) });
      response.on("data", (chunk: Buffer) => {
        chunks.push(chunk);
        if (until?.(Buffer.concat(chunks).toString("utf8")) !== true) return;
        finish();
        request.destroy();
      });
      response.on("end", finish);
      response.on("error", reject);
    });
    request.on("error", reject);
    request.end(body);
  });
}
