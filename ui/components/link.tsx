import type { ComponentChildren } from "preact";
import { viewAddress } from "../core/base.ts";
import { navigate } from "../core/router.ts";

interface LinkProps {
  /** A path of the console with its query. */
  readonly to: string;
  readonly class?: string;
  readonly current?: boolean;
  readonly label?: string;
  readonly children: ComponentChildren;
}

/** A link to a view. It is an `a` element, so it can be opened in another tab and copied. */
export function Link({ to, current, label, children, class: className }: LinkProps) {
  const [path = "/", query = ""] = to.split("?", 2);
  return (
    <a
      href={viewAddress(path) + (query === "" ? "" : `?${query}`)}
      class={className}
      aria-current={current === true ? "page" : undefined}
      aria-label={label}
      onClick={(event) => {
        if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
        event.preventDefault();
        navigate(to);
      }}
    >
      {children}
    </a>
  );
}
