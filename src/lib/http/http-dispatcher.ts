import type { Dispatcher } from "undici";
import apiConnect from "undici/lib/api/api-connect.js";
import Client from "undici/lib/dispatcher/client.js";
import EnvHttpProxyAgent from "undici/lib/dispatcher/env-http-proxy-agent.js";
import Pool from "undici/lib/dispatcher/pool.js";
import ProxyAgent from "undici/lib/dispatcher/proxy-agent.js";
import type { HttpExchange, PersistentConnection } from "./http-exchange.ts";
import { UncheckedHost } from "./http-failure.ts";
import { InterimAnswers } from "./interim-answers.ts";
import { lookupPublic } from "./private-address.ts";
import { proxiesOfEnvironment, withReadableUser } from "./proxies.ts";

/** An idle connection is closed after this time, or two seconds before the server would close it. */
const IDLE_MS = 4_000;
const SERVER_CLOSES_EARLIER_MS = 2_000;
/** The most bytes of the status line and the headers together. */
const LONGEST_HEAD = 64 * 1024;

/** The files of a TLS client, in PEM form. */
export interface TlsFiles {
  /** Certificates of the trusted authorities, which replace Node's list. */
  readonly ca?: string;
  /** The client's certificate, with its key. */
  readonly cert?: string;
  readonly key?: string;
}

/**
 * The server of a request. `configured`: named by the operator. `redirected`: any server that a redirect names.
 * `public`: any server, but only at an address of the public internet.
 */
export type ServerKind = "configured" | "redirected" | "public";

export interface DispatcherOptions {
  /** The most connections to one server. */
  readonly connections: number;
  /** The time limit for opening a connection. */
  readonly connectTimeoutMs: number;
  /** `none`, or the address of a proxy. Absent: the proxies that the environment names. */
  readonly proxy?: string;
  /** Reads the files for servers of the kind `configured`. Called when their connections are created. */
  readonly tls?: () => TlsFiles;
}

/** A request with its exchange. undici passes the options of a request to the connection. */
export type ExchangeOptions = Dispatcher.DispatchOptions & { readonly origin: string; readonly exchange: HttpExchange };

/** A connection that counts its answers and sets itself as the exchange's `connection`. */
class CountingClient extends Client implements PersistentConnection {
  answers = 0;
  readonly #interim: InterimAnswers;

  constructor(server: string | URL, options: Pool.Options, interim = new InterimAnswers()) {
    super(server, { ...options, connect: interim.around(options.connect) });
    this.#interim = interim;
    this.on("connect", () => {
      this.answers = 0;
    });
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    this.#interim.expect();
    if ("exchange" in options) (options as ExchangeOptions).exchange.connection = this;
    return super.dispatch(options, handler);
  }
}

/**
 * Opens tunnels through a proxy. undici's main file adds `connect` to all dispatchers, but this program does not load
 * that file.
 */
class TunnelPool extends Pool {
  override connect = apiConnect;
}

/** Refuses every tunnel, because a proxy would look up the host's name itself. */
class ClosedTunnels extends Pool {
  override connect = (): Promise<never> => Promise.reject(new UncheckedHost());
}

/** Creates the connections to one server, directly or through a proxy. */
export function createDispatcher(origin: string, kind: ServerKind, options: DispatcherOptions): Dispatcher {
  const timeout = options.connectTimeoutMs;
  const connect = {
    timeout,
    ...(kind === "configured" && origin.startsWith("https:") ? options.tls?.() : {}),
    ...(kind === "public" ? { lookup: lookupPublic } : {}),
  };
  const factory = (to: string | URL, more: Pool.Options): Pool =>
    new Pool(to, {
      ...more,
      connections: options.connections,
      maxHeaderSize: LONGEST_HEAD,
      keepAliveTimeout: IDLE_MS,
      keepAliveMaxTimeout: IDLE_MS,
      keepAliveTimeoutThreshold: SERVER_CLOSES_EARLIER_MS,
      // The caller limits the time of the whole request.
      headersTimeout: 0,
      bodyTimeout: 0,
      factory: (server, clientOptions) => new CountingClient(server, clientOptions),
    });
  const proxied = {
    factory,
    connect,
    requestTls: connect,
    proxyTls: { timeout },
    clientFactory: (proxy: URL, more: Pool.Options) =>
      kind === "public" ? new ClosedTunnels(proxy) : new TunnelPool(proxy, { ...more, headersTimeout: timeout }),
    // Many proxies allow tunnels to port 443 only, so a request without TLS is sent to the proxy itself. `public` uses
    // tunnels, because a tunnel can be refused before the proxy sees the request.
    proxyTunnel: kind === "public",
  };
  if (options.proxy === "none") return factory(origin, { connect });
  if (options.proxy !== undefined) return new ProxyAgent({ ...proxied, uri: withReadableUser(options.proxy) });
  const { http, https } = proxiesOfEnvironment();
  if (http === undefined && https === undefined) return factory(origin, { connect });
  return new EnvHttpProxyAgent({
    ...proxied,
    ...(http === undefined ? {} : { httpProxy: http }),
    ...(https === undefined ? {} : { httpsProxy: https }),
  });
}
