import type { Cookie, CookieJar } from "tough-cookie";
import { codeOf } from "../../lib/error-code.ts";
import type { HttpAnswer } from "../../lib/http/http-exchange.ts";

/** The longest Set-Cookie header in characters. Browsers ignore names and values of more than 4,096. */
const LONGEST = 4096;
/** The most cookies of one host, and of all hosts of a source. */
const MOST_OF_HOST = 50;
const MOST = 250;

/**
 * The cookies of a source (RFC 6265), in memory. Each server gets back the cookies that it set. The first cookie loads
 * the library.
 */
export class SourceCookies {
  #jar: Promise<CookieJar> | undefined;

  /** Returns the Cookie header of a request. Undefined if the request needs no cookie. */
  async headerFor(url: URL): Promise<string | undefined> {
    if (this.#jar === undefined) return undefined;
    const jar = await this.#jar;
    return (await jar.getCookieString(url.href)) || undefined;
  }

  /** Stores the cookies of an answer and returns their values. */
  async keep(url: URL, { headers }: Pick<HttpAnswer, "headers">): Promise<readonly string[]> {
    const given = headers["set-cookie"];
    const lines = (typeof given === "string" ? [given] : (given ?? [])).filter(({ length }) => length <= LONGEST);
    if (lines.length === 0) return [];
    const { Cookie, CookieJar } = await import("tough-cookie");
    this.#jar ??= Promise.resolve(new CookieJar(undefined, { allowSecureOnLocal: false }));
    const jar = await this.#jar;
    const cookies = lines.slice(-MOST_OF_HOST).flatMap((line) => Cookie.parse(line, { loose: true }) ?? []);
    for (const cookie of cookies) await keepOne(jar, cookie, url);
    await removeOldest(jar);
    return cookies.map(({ value }) => value);
  }
}

async function keepOne(jar: CookieJar, cookie: Cookie, url: URL): Promise<void> {
  try {
    // Ignores a cookie for another server, as browsers do.
    const kept = await jar.setCookie(cookie, url.href, { ignoreError: true });
    if (kept !== undefined || cookie.cdomain() !== url.hostname) return;
    // A server may set a cookie for its own host name even if that name is a public suffix, as names of containers are
    // (RFC 6265, 5.3, step 5).
    cookie.domain = null;
    await jar.setCookie(cookie, url.href, { ignoreError: true });
  } catch (error) {
    // Ignores a cookie whose domain is no host. The library throws the error of `new URL`, in spite of `ignoreError`.
    if (codeOf(error) !== "ERR_INVALID_URL") throw error;
  }
}

/** Removes the oldest cookies beyond the limits. */
async function removeOldest({ store }: CookieJar): Promise<void> {
  // Sorted with the latest first. A cookie that a server sets again keeps its time of creation (RFC 6265, 5.3).
  const all = (await store.getAllCookies()).sort((a, b) => b.creationIndex - a.creationIndex);
  const ofHosts = new Map<string | null, number>();
  for (const [i, { domain, path, key }] of all.entries()) {
    const ofHost = (ofHosts.get(domain) ?? 0) + 1;
    ofHosts.set(domain, ofHost);
    if (ofHost > MOST_OF_HOST || i >= MOST) await store.removeCookie(domain, path, key);
  }
}
