const SVG = 'http://www.w3.org/2000/svg'

/** An element of the page, which the page is known to have. */
export function byId<T extends Element>(id: string, type: abstract new () => T): T {
  const element = document.getElementById(id)
  if (element instanceof type) return element
  throw new Error(`the page has no ${type.name} #${id}`)
}

/** A new element with attributes and content. Texts become text, whatever is in them. */
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Readonly<Record<string, string>> = {},
  ...content: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value)
  element.append(...content)
  return element
}

/** The same for SVG. */
export function makeSvg(
  tag: string,
  attributes: Readonly<Record<string, string | number>>,
  ...content: (Node | string)[]
): SVGElement {
  const element = document.createElementNS(SVG, tag)
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value))
  element.append(...content)
  return element
}
