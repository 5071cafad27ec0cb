import type { ComponentChildren } from "preact";

interface FactProps {
  readonly name: ComponentChildren;
  readonly title?: string | undefined;
  readonly children: ComponentChildren;
}

/** A name with its value, in a `dl` element. */
export const Fact = ({ name, title, children }: FactProps) => (
  <>
    <dt>{name}</dt>
    <dd title={title}>{children}</dd>
  </>
);

/** A name with its value, and the title of the value. A fact without a value is false, or its value null or undefined. */
export type NamedValue = false | readonly [name: string, value: ComponentChildren, title?: string | undefined];

/** A list of names with their values. */
export const Facts = ({
  facts,
  class: more = "",
}: {
  readonly facts: readonly NamedValue[];
  readonly class?: string;
}) => (
  <dl class={`facts ${more}`}>
    {facts.map(
      (fact, n) =>
        fact &&
        (fact[1] ?? undefined) !== undefined && (
          <Fact key={`${fact[0]} ${n}`} name={fact[0]} title={fact[2]}>
            {fact[1]}
          </Fact>
        ),
    )}
  </dl>
);

export type NamedFigure = false | readonly [name: string, value: ComponentChildren, more?: ComponentChildren];

/** Figures side by side, some with a small text below. */
export const Figures = ({ figures }: { readonly figures: readonly NamedFigure[] }) => (
  <dl class="figures">
    {figures.map(
      (figure) =>
        figure && (
          <div key={figure[0]}>
            <Fact name={figure[0]}>
              {figure[1]}
              {figure[2] !== undefined && <small>{figure[2]}</small>}
            </Fact>
          </div>
        ),
    )}
  </dl>
);
