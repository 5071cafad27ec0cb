import { headerOf, type RawAnswer } from "./raw-exchange.ts";

const MANAGED = /^(?:\/geowebcache|\/gs\/gwc)?\/(?:rest(?:\/|$)|api(?:\/|$)|masstruncate|diskquota)/;
const ASCII = /^[\0-\x7f]*$/;

/**
 * Rules for every answer of the management interface (`docs/reference/wire-format.md`, Addresses and Bodies), checked
 * on each answer of the suite.
 */
export function brokenLaws(
  method: string,
  target: string,
  requestHeaders: readonly string[],
  answer: RawAnswer,
): string[] {
  const broken: string[] = [];
  const law = (holds: boolean, sentence: string) => {
    if (!holds) broken.push(`law: ${sentence}`);
  };
  const header = (name: string) => headerOf(answer, name);
  const body = answer.body.toString("latin1");
  const length = header("content-length");
  if (method === "HEAD" || answer.status === 304) law(body === "", "an answer to HEAD, and a 304, has no body");
  else if (length !== undefined) law(Number(length) === answer.body.length, "Content-Length is the body's");
  law(
    new Set(answer.headers.map(([name]) => name.toLowerCase())).size === answer.headers.length,
    "no header comes twice",
  );
  if (!MANAGED.test(target)) return broken;

  law(header("cache-control") === "no-store", "management answers carry Cache-Control: no-store");
  law(header("etag") === undefined, "management answers carry no ETag");
  law(answer.status < 500, "never a 500 for what a client sent");
  const type = header("content-type");
  switch (type) {
    case undefined:
      law(body === "", "a body has a Content-Type");
      break;
    case "application/json":
    case "application/problem+json":
    case "application/xml":
    case "text/xml":
    case "text/plain":
      law(ASCII.test(body), `a body sent as ${type} is ASCII`);
      break;
    case "text/plain; charset=utf-8":
      law(method === "HEAD" || !ASCII.test(body), "text/plain names a charset only when the body is not ASCII");
      break;
    case "application/geo+json":
    case "text/event-stream":
      law(
        /\/api\/v1\/(?:events|jobs\/[^/]+\/failures)(?:\?|$)/.test(target),
        "only events and failures have types of their own",
      );
      break;
    default:
      law(type === "text/html; charset=utf-8", "content types are those of `docs/reference/wire-format.md`, Bodies");
  }
  if (answer.status === 405) {
    const allow = header("allow") ?? "";
    law(allow !== "", "405 carries Allow");
    law(method === "HEAD" || body.includes(allow), "the body of a 405 names the methods that are allowed");
    law(allow.endsWith("OPTIONS"), "Allow lists OPTIONS too");
    law(allow.includes("GET") === allow.includes("HEAD"), "HEAD wherever GET is");
  }
  const isScript = requestHeaders.some((line) => /^sec-fetch-mode: (?!navigate$)/i.test(line));
  law(
    (answer.status === 401 && !isScript) === (header("www-authenticate") === 'Basic realm="Nuthatch"'),
    "401 to what is no script of a page, and only that, carries WWW-Authenticate",
  );
  if (answer.status >= 400 && method !== "HEAD")
    law(/^\S/.test(body), "an error's body begins with a sentence, problem or page");
  return broken;
}
