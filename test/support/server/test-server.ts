export interface TestServer {
  /** `http://127.0.0.1:PORT`, no slash at the end. */
  readonly url: string;
  readonly port: number;
  readonly dataDir: string;
  readonly pid: number;
  /** Returns the log so far, for the report of a failing test. */
  log(): string;
  kill(signal: NodeJS.Signals): Promise<number | null>;
  /** Starts again on the same data and configuration, on another port. */
  restart(signal?: NodeJS.Signals): Promise<TestServer>;
  close(): Promise<void>;
}

export interface ServerOptions {
  /** YAML text of a configuration file; absent: the demo layers. */
  readonly configuration?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly dataDir?: string;
  /** The path of another build of the program. */
  readonly program?: string;
  /** A program and its arguments that run the server's command. */
  readonly under?: readonly string[];
}
