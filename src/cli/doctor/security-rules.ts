import { type Stats, statSync } from "node:fs";
import type { Configuration } from "../../configuration/configuration.ts";
import type { UpstreamOptions } from "../../layer/source-options.ts";
import { isLoopback } from "../../lib/http/loopback.ts";
import { addressesOf } from "../../source/http/servers.ts";

/** An installation: its configuration, the machine that it runs on, and the server if one answers. */
export interface Installation {
  readonly configuration: Configuration;
  /** The version of Node, such as `24.3.0`. */
  readonly node: string;
  readonly nowMs: number;
  /** The status of a management request without credentials. Undefined if no server answers. */
  readonly openStatus: number | undefined;
}

/** A rule of the hardening guide. */
export interface SecurityRule {
  readonly id: string;
  readonly severity: "error" | "warning";
  /** What the rule asks for, for the guide. */
  readonly demand: string;
  /** Returns a sentence for each breach, with the part and the remedy. */
  readonly breaches: (installation: Installation) => readonly string[];
}

/** The days on which the security fixes of Node's lines end (nodejs/Release). */
const NODE_ENDS: Readonly<Record<number, string>> = { 20: "2026-04-30", 22: "2027-04-30", 24: "2028-04-30" };

/** Returns whether a request to an address can be read on its way. */
function isPlain(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, hostname } = new URL(address);
  return protocol === "http:" && !isLoopback(hostname.replace(/^\[(.*)\]$/, "$1"));
}

const when = (isBroken: boolean, message: string): readonly string[] => (isBroken ? [message] : []);

function statOf(path: string | undefined): Stats | undefined {
  return path === undefined ? undefined : statSync(path, { throwIfNoEntry: false });
}

/** Returns the sources over HTTP, with their layers. */
const upstreams = ({ layers }: Configuration): readonly { readonly name: string; readonly source: UpstreamOptions }[] =>
  layers.flatMap(({ name, source }) => ("url" in source ? [{ name, source }] : []));

const octal = ({ mode }: Stats): string => (mode & 0o777).toString(8).padStart(4, "0");

export const SECURITY_RULES: readonly SecurityRule[] = [
  {
    id: "accounts",
    severity: "warning",
    demand: "The server has accounts. Without them every program of the machine may manage it.",
    breaches: ({ configuration: { users } }) =>
      when(users.length === 0, "there are no accounts: add one with nuthatch user add, or set NUTHATCH_ADMIN_PASSWORD"),
  },
  {
    id: "closed",
    severity: "error",
    demand: "A running server with accounts refuses a management request without credentials.",
    breaches: ({ configuration: { users, server }, openStatus }) =>
      when(
        users.length > 0 && openStatus === 200,
        `the server at port ${server.port} answers without credentials: it has not read the accounts; restart or reload it`,
      ),
  },
  {
    id: "tls",
    severity: "warning",
    demand: "A server that listens beyond loopback has a proxy with TLS in front, which `server.trustProxy` names.",
    breaches: ({ configuration: { server } }) =>
      when(
        !isLoopback(server.host) && server.trustProxy === false,
        `server.host is ${server.host}, and server.trustProxy names no proxy: passwords travel unencrypted; put a proxy with TLS in front`,
      ),
  },
  {
    id: "proxy",
    severity: "warning",
    demand: "`server.trustProxy` lists the addresses of the proxies. With `true` every client may invent its address.",
    breaches: ({ configuration: { server } }) =>
      when(server.trustProxy === true, "server.trustProxy is true: list the addresses of the proxies instead"),
  },
  {
    id: "origins",
    severity: "warning",
    demand: "`server.allowedOrigins` has origins with https only.",
    breaches: ({ configuration: { server } }) =>
      server.allowedOrigins
        .filter(isPlain)
        .map(
          (origin) =>
            `server.allowedOrigins has ${origin}: whoever changes its pages on the way manages the server; use https`,
        ),
  },
  {
    id: "upstreams",
    severity: "warning",
    demand: "Credentials and secret headers of an upstream are sent over https, or on the machine itself.",
    breaches: ({ configuration }) =>
      upstreams(configuration)
        .filter(({ source }) => source.username !== undefined || source.headers !== undefined)
        .filter(({ source }) => addressesOf(source).some(isPlain))
        .map(
          ({ name }) => `the source of layer ${name} sends credentials or headers over http: use https in source.url`,
        ),
  },
  {
    id: "redirects",
    severity: "warning",
    demand: "No source follows redirects into private networks.",
    breaches: ({ configuration }) =>
      upstreams(configuration)
        .filter(({ source }) => source.allowPrivateRedirects === true)
        .map(
          ({ name }) =>
            `the source of layer ${name} has allowPrivateRedirects: its map server can read other services of the network`,
        ),
  },
  {
    id: "webhooks",
    severity: "warning",
    demand: "Webhooks have addresses with https, or on the machine itself.",
    breaches: ({ configuration: { webhooks } }) =>
      webhooks
        .filter(({ url }) => isPlain(url))
        .map(({ url }) => `the webhook at ${new URL(url).origin} gets events over http: use https`),
  },
  {
    id: "files",
    severity: "error",
    demand:
      "Only the account of the server reads the data directory, and other accounts do not write the configuration.",
    breaches: ({ configuration: { dataDir, file } }) => {
      const data = statOf(dataDir);
      const config = statOf(file);
      return [
        ...when(
          data !== undefined && (data.mode & 0o077) !== 0,
          `${dataDir} has the mode ${data === undefined ? "" : octal(data)}: chmod 0700`,
        ),
        ...when(
          config !== undefined && (config.mode & 0o022) !== 0,
          `${file} has the mode ${config === undefined ? "" : octal(config)}, so that other accounts can change it: chmod 0640`,
        ),
      ];
    },
  },
  {
    id: "root",
    severity: "warning",
    demand: "The server does not run as root.",
    breaches: ({ configuration: { dataDir } }) =>
      when(
        statOf(dataDir)?.uid === 0,
        `${dataDir} belongs to root, so the server runs as root: run it as the account nuthatch`,
      ),
  },
  {
    id: "node",
    severity: "warning",
    demand: "The line of Node still gets security fixes.",
    breaches: ({ node, nowMs }) => {
      const end = NODE_ENDS[Number(node.split(".", 1)[0])];
      if (end === undefined) return [`Node ${node} is no line with long support: use Node 24`];
      return when(nowMs > Date.parse(end), `Node ${node} has had no security fixes since ${end}: use Node 24`);
    },
  },
];
