/** One string for all equal texts. A text that is read a hundred thousand times is then in memory once. */
export class SharedTexts {
  readonly #texts = new Map<string, string>()
  readonly #most: number

  /** Beyond `most` texts it forgets all, and begins again. */
  constructor(most = Number.POSITIVE_INFINITY) {
    this.#most = most
  }

  of<Text extends string>(text: Text): Text {
    const known = this.#texts.get(text)
    if (known !== undefined) return known as Text
    if (this.#texts.size >= this.#most) this.#texts.clear()
    this.#texts.set(text, text)
    return text
  }
}
