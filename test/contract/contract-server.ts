import { afterAll, beforeAll, beforeEach, test } from "vitest";
import { startServer, type TestServer } from "../support/server/server.ts";
import { startUpstream, type Upstream } from "../support/upstream/upstream.ts";
import { parseTranscript, replay } from "./transcript.ts";

export interface ContractServer {
  /** A test: the sentence is true when the server answers as the transcript says. */
  transcript(sentence: string, text: string, isSkipped?: boolean): void;
  at(): TestServer;
  upstream(): Upstream;
}

export interface ContractServerOptions {
  /** YAML, given the address of a test upstream that renders; absent: the demo layers. */
  readonly configuration?: (upstreamUrl: string) => string;
  /** The upstream never answers, so running tasks stay running. */
  readonly hanging?: true;
  /** A transcript that runs before each test, because tests run in any order. */
  readonly before?: string;
}

/** One server for all tests of a file. */
export function contractServer(options: ContractServerOptions = {}): ContractServer {
  let server: TestServer | undefined;
  let upstream: Upstream | undefined;
  const at = (): TestServer => {
    if (server === undefined) throw new Error("the server has not been started");
    return server;
  };
  beforeAll(async () => {
    if (options.configuration === undefined) {
      server = await startServer();
      return;
    }
    upstream = await startUpstream();
    if (options.hanging === true) upstream.behaviour = () => "handled";
    server = await startServer({ configuration: options.configuration(upstream.url) });
  });
  afterAll(async () => {
    await server?.close();
    await upstream?.close();
  });
  const { before } = options;
  if (before !== undefined) {
    const steps = parseTranscript(before);
    beforeEach(() => replay(at(), steps));
  }
  return {
    at,
    upstream() {
      if (upstream === undefined) throw new Error("this server has no upstream");
      return upstream;
    },
    transcript(sentence, text, isSkipped = false) {
      const steps = parseTranscript(text);
      test.skipIf(isSkipped)(sentence, () => replay(at(), steps));
    },
  };
}

/** Ends all tasks: the list is empty at the begin of a test. */
export const KILL_ALL = `
  > POST /rest/seed
  >
  > kill_all=all
  < 200 text/html; charset=utf-8
  <
  < {any}
`;
