import { picture, startUpstream, type Upstream } from "./upstream.ts";

/** An upstream that answers only while it is let. */
export interface HeldUpstream {
  readonly upstream: Upstream;
  isOpen: boolean;
  /** Of a square of noise in each 64 x 64 pixels of what is asked for from now on: another side is another map. */
  side: number;
  /** Answers what waits now, the first `most` of it. */
  release(most?: number): void;
  /** The middles of what is asked for and not answered, in the units of the grid. */
  waiting(): { readonly x: number; readonly y: number }[];
}

export const startHeldUpstream = async (): Promise<HeldUpstream> => hold(await startUpstream());

/** From now on an upstream answers only while it is let. */
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
