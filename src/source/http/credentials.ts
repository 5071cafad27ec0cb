import { LRUCache } from "lru-cache";
import type { UpstreamOptions } from "../../layer/layer.ts";
import { DigestAnswers, type DigestChallenge, digestChallenge, nextNonce } from "../../lib/http/digest.ts";
import { type HttpAnswer, headerOf } from "../../lib/http/http-exchange.ts";

/** Servers that want Digest, by origin and credentials. */
const MOST_SERVERS = 256;
/** The requests in place of one: the first, one with the answer to a challenge, and one when the nonce is too old again. */
const MOST_ATTEMPTS = 3;

/** What one server wants. All sources of a process with the same credentials share it. */
interface Digest {
  answers: DigestAnswers;
  /** Whether the server has accepted the credentials since it last refused them. */
  isAccepted: boolean;
}

const digests = new LRUCache<string, Digest>({ max: MOST_SERVERS });

/** The header Authorization of requests to the servers of a source. */
export interface Credentials {
  /** What may identify the user in a text. */
  readonly secrets: readonly string[];
  /**
   * Sends a request: with Basic at once, or with Digest if the server has wanted it before. Answers a challenge of
   * Digest by sending the request again.
   * @param send sends it with this Authorization; undefined: without one
   */
  authorize(
    url: URL,
    method: string,
    send: (authorization: string | undefined) => Promise<HttpAnswer>,
  ): Promise<HttpAnswer>;
}

/** Returns the credentials of a source; undefined: it has none. */
export function credentialsOf({
  username,
  password = "",
  authentication,
}: Pick<UpstreamOptions, "username" | "password" | "authentication">): Credentials | undefined {
  if (username === undefined) return undefined;
  const encoded = Buffer.from(`${username}:${password}`).toString("base64");
  const basic = authentication === "digest" ? undefined : `Basic ${encoded}`;
  return {
    secrets: [username, password, encoded],
    async authorize(url, method, send) {
      const key = JSON.stringify([url.origin, username, password]);
      const request = { method, target: `${url.pathname}${url.search}` };
      for (let attempt = 1; ; attempt++) {
        const digest = digests.get(key);
        const answer = await send(digest?.answers.next(request, { username, password }) ?? basic);
        const wanted = update(key, digest, answer);
        if (!wanted || attempt === MOST_ATTEMPTS) return answer;
      }
    },
  };
}

/**
 * Remembers what an answer says about Digest. Returns whether the request is worth sending again.
 * @param sent the digest of the request; undefined: it had none
 */
function update(key: string, sent: Digest | undefined, answer: HttpAnswer): boolean {
  if (answer.status !== 401) {
    if (sent !== undefined) accept(key, sent, answer);
    return false;
  }
  const challenge = digestChallenge(headerOf(answer, "www-authenticate") ?? "");
  if (challenge === undefined) return false;
  // A server that has lost its nonces need not say `stale`.
  const isNonceRefused = sent === undefined || challenge.isStale || sent.isAccepted;
  remember(key, challenge, challenge.isStale && sent?.isAccepted === true);
  return isNonceRefused;
}

function accept(key: string, sent: Digest, answer: HttpAnswer): void {
  sent.isAccepted = true;
  const nonce = nextNonce(headerOf(answer, "authentication-info") ?? "");
  const { challenge } = sent.answers;
  // The key of a session is made of its first nonce.
  if (nonce === undefined || challenge.isSession || digests.get(key) !== sent) return;
  remember(key, { ...challenge, nonce }, true);
}

const remember = (key: string, challenge: DigestChallenge, isAccepted: boolean): void => {
  digests.set(key, { answers: new DigestAnswers(challenge), isAccepted });
};
