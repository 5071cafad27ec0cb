import { picture, startUpstream, type Upstream } from "./upstream.ts";

/** An upstream whose answers the test holds back and releases. */
export interface HeldUpstream {
  readonly upstream: Upstream;
  isOpen: boolean;
  /** Side of the square of noise in each 64 x 64 pixels of further pictures. Changing the side changes the map. */
  side: number;
  /** Answers the requests that wait now, at most the first `most` of them. */
  release(most?: number): void;
  /** Returns the centres of the unanswered requests, in the units of the grid. */
  waiting(): { readonly x: number; readonly y: number }[];
}

export const startHeldUpstream = async (): Promise<HeldUpstream> => hold(await startUpstream());

/** Makes an upstream answer only when the test lets it. */
export function hold(upstream: Upstream): HeldUpstream {
  const held = new Map<number, { readonly x: number; readonly y: number; readonly answer: () => void }>();
  const at = {
    upstream,
    isOpen: false,
    side: 0,
    release(most = Number.POSITIVE_INFINITY): void {
      for (const { answer } of [...held.values()].slice(0, most)) answer();
    },
    waiting: () => [...held.values()].map(({ x, y }) => ({ x, y })),
  };
  upstream.behaviour = ({ n, bbox, width, height }, response) => {
    const [minX = 0, minY = 0, maxX = 0, maxY = 0] = bbox.split(",").map(Number);
    const rendered = picture(width, height, at.side, 64);
    const answer = (): void => {
      held.delete(n);
      response.writeHead(200, { "Content-Type": "image/png" }).end(rendered);
    };
    if (at.isOpen) answer();
    else {
      held.set(n, { x: (minX + maxX) / 2, y: (minY + maxY) / 2, answer });
      response.on("close", () => held.delete(n));
    }
    return "handled";
  };
  return at;
}
