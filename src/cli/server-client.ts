import type { Command } from "commander";
import { CommandFailure, EXIT } from "./exit.ts";

/** Flags of every command that asks a running server. */
export interface ServerFlags {
  readonly url: string;
  readonly user?: string;
}

const DEFAULT_URL = "http://127.0.0.1:8080";
const TIMEOUT_MS = 60_000;

export const addServerFlags = (command: Command): Command =>
  command
    .option("--url <url>", "the server, with its mount (NUTHATCH_URL)", process.env["NUTHATCH_URL"] || DEFAULT_URL)
    .option("--user <name>", "whose password is in NUTHATCH_PASSWORD (NUTHATCH_USER)");

/** No answer came: the address is wrong, or the server is not there at this moment. */
export class ServerUnreachable extends CommandFailure {
  override readonly name = "ServerUnreachable";
}

/** The server has answered, and not with what was asked for. */
export class ServerRefusal extends CommandFailure {
  override readonly name = "ServerRefusal";
  /** As the server wrote it. */
  readonly text: string;

  constructor(message: string, text: string) {
    super(message, EXIT.failure);
    this.text = text;
  }
}

/** Asks a running server over HTTP, as the user whose password the environment holds. */
export class ServerClient {
  readonly #base: string;
  readonly #authorization: string | undefined;

  constructor({ url, user }: ServerFlags, credentials: "from the environment" | "none" = "from the environment") {
    if (!URL.canParse(url)) throw new CommandFailure(`--url: expected an address, got ${url}`, EXIT.usage);
    this.#base = url.replace(/\/+$/, "");
    if (credentials === "none") return;
    const name = user ?? process.env["NUTHATCH_USER"];
    const password = process.env["NUTHATCH_PASSWORD"];
    if (name !== undefined && password === undefined)
      throw new CommandFailure(`the password of ${name} is expected in NUTHATCH_PASSWORD`, EXIT.usage);
    this.#authorization =
      password === undefined
        ? undefined
        : `Basic ${Buffer.from(`${name ?? "admin"}:${password}`, "utf8").toString("base64")}`;
  }

  /**
   * The text of a good answer.
   * @throws CommandFailure with the server's words, or why it cannot be reached
   */
  async ask(
    method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE",
    path: string,
    query: URLSearchParams,
    document?: object,
  ): Promise<string> {
    const address = `${this.#base}${path}${query.size > 0 ? `?${query}` : ""}`;
    const headers = {
      ...(this.#authorization === undefined ? {} : { Authorization: this.#authorization }),
      ...(document === undefined ? {} : { "Content-Type": "application/json" }),
    };
    const body = document === undefined ? null : JSON.stringify(document);
    const answer = await this.#fetch(address, { method, headers, body }).catch((error: unknown) => {
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
      throw new ServerUnreachable(`${this.#base} cannot be asked: ${cause}`, EXIT.failure);
    });
    if (!answer.ok) throw new ServerRefusal(`${address}: ${answer.status} ${wordsOf(answer.text)}`, answer.text);
    return answer.text;
  }

  async #fetch(address: string, init: RequestInit): Promise<{ ok: boolean; status: number; text: string }> {
    const response = await fetch(address, { ...init, signal: AbortSignal.timeout(TIMEOUT_MS) });
    return { ok: response.ok, status: response.status, text: await response.text() };
  }
}

/** What a problem document says, else the first line. */
function wordsOf(text: string): string {
  try {
    const problem: unknown = JSON.parse(text);
    if (typeof problem === "object" && problem !== null && "detail" in problem) return String(problem.detail);
  } catch {
    // Not JSON: a proxy's words.
  }
  return text.split("\n")[0] ?? "";
}
