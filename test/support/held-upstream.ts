import { picture, startUpstream, type Upstream } from "./upstream.ts";

/** An upstream that answers only while it is let. */
export interface HeldUpstream {
  readonly upstream: Upstream;
  isOpen: boolean;
  /** Answers what waits now. */
  release(): void;
  /** The middles of what is asked for and not answered, in the units of the grid. */
  waiting(): { readonly x: number; readonly y: number }[];
}

export async function startHeldUpstream(): Promise<HeldUpstream> {
  const upstream = await startUpstream();
  const held = new Map<number, { readonly x: number; readonly y: number; readonly answer: () => void }>();
  const at = {
    upstream,
    isOpen: false,
    release(): void {
      for (const { answer } of [...held.values()]) answer();
    },
    waiting: () => [...held.values()].map(({ x, y }) => ({ x, y })),
  };
  upstream.behaviour = ({ n, bbox, width, height }, response) => {
    const [minX = 0, minY = 0, maxX = 0, maxY = 0] = bbox.split(",").map(Number);
    const answer = (): void => {
      held.delete(n);
      response.writeHead(200, { "Content-Type": "image/png" }).end(picture(width, height));
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
