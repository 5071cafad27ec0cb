import type { ComponentChildren } from "preact";
import { navigate } from "../core/page/router.ts";
import { viewAddress } from "../core/server/base.ts";

interface LinkProps {
  /** A path of the console with its query. */
  readonly to: string;
  readonly class?: string;
  readonly current?: boolean;
  readonly label?: string | undefined;
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

interface ButtonLinkProps extends Pick<LinkProps, "to"> {
  readonly label: string;
  /** The name for screen readers, if the label alone is not clear. */
  readonly name?: string;
  readonly kind?: "primary" | "quiet" | "quiet small";
}

/** A link to a view that looks like a button. */
export const ButtonLink = ({ to, label, name, kind }: ButtonLinkProps) => (
  <Link to={to} class={["button", kind].filter(Boolean).join(" ")} label={name}>
    {label}
  </Link>
);
