import type { ServerOptions } from "../../http/options.ts";
import { trimEndOf } from "../../lib/trim-end.ts";
import { hasControlCharacter } from "./build-grid-sets.ts";
import type { Path, Problems } from "./problems.ts";
import type { ServerSchema } from "./schema.ts";
import type { Static } from "./shape.ts";

const DEFAULT_MOUNTS = ["/", "/geowebcache"];
const DEFAULT_MEMORY_TIER_MIB = 64;

export function buildServer(document: Static<typeof ServerSchema>, at: Path, problems: Problems): ServerOptions {
  const host = document.host ?? "127.0.0.1";
  if (/\s/.test(host) || hasControlCharacter(host)) problems.expected([...at, "host"], "an address or a name", host);
  return {
    host: host.replace(/^\[(.*)\]$/, "$1"),
    port: document.port ?? 8080,
    mounts: buildMounts(document.mounts ?? DEFAULT_MOUNTS, [...at, "mounts"], problems),
    trustProxy: document.trustProxy ?? false,
    allowedOrigins: (document.allowedOrigins ?? []).map((origin, i) => {
      const plain = URL.canParse(origin) ? new URL(origin).origin : "null";
      if (plain === "null" || (origin !== plain && origin !== `${plain}/`))
        problems.expected([...at, "allowedOrigins", i], "an origin such as https://maps.example.org", origin);
      return plain;
    }),
    memoryTierBytes: (document.memoryTierMiB ?? DEFAULT_MEMORY_TIER_MIB) * 2 ** 20,
    workers: document.workers ?? 1,
  };
}

/** Builds the mounts, the longest first, because the longest matching mount of an address is used. */
function buildMounts(given: readonly string[], at: Path, problems: Problems): readonly string[] {
  const mounts = given.map((mount, i) => {
    if (!/^(?:\/[\w.~-]+)*\/*$/.test(mount) || !mount.startsWith("/") || /\/\.{1,2}(\/|$)/.test(mount))
      problems.expected([...at, i], 'a path such as "/" or "/geowebcache"', mount);
    return trimEndOf(mount, "/") || "/";
  });
  return [...new Set(mounts)].sort((a, b) => b.length - a.length || (a < b ? -1 : 1));
}

/** Returns whether only this machine can reach an address. */
export function isLoopback(host: string): boolean {
  const plain = host.replace(/^\[(.*)\]$/, "$1").toLowerCase();
  return plain === "localhost" || plain === "::1" || /^(?:::ffff:)?127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(plain);
}
