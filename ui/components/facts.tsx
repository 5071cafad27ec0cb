import type { ComponentChildren } from "preact";

interface FactProps {
  readonly name: ComponentChildren;
  readonly title?: string;
  readonly children: ComponentChildren;
}

/** A name with its value, in a `dl` element. */
export const Fact = ({ name, title, children }: FactProps) => (
  <>
    <dt>{name}</dt>
    <dd title={title}>{children}</dd>
  </>
);

/** A name with its value, in a `dl` element of the class "figures". */
export const Figure = (props: FactProps) => (
  <div>
    <Fact {...props} />
  </div>
);

export type NamedValue = readonly [name: string, value: ComponentChildren];

/** A list of names with their values. */
export const Facts = ({ facts }: { readonly facts: readonly NamedValue[] }) => (
  <dl class="facts">
    {facts.map(([name, value]) => (
      <Fact key={name} name={name}>
        {value}
      </Fact>
    ))}
  </dl>
);

export type NamedFigure = readonly [name: string, value: ComponentChildren, more?: ComponentChildren];

/** Figures side by side, some with a small text below. */
export const Figures = ({ figures }: { readonly figures: readonly NamedFigure[] }) => (
  <dl class="figures">
    {figures.map(([name, value, more]) => (
      <Figure key={name} name={name}>
        {value}
        {more !== undefined && <small>{more}</small>}
      </Figure>
    ))}
  </dl>
);
