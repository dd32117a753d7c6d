/** One string for all equal texts. A text that is read a hundred thousand times is then in memory once. */
export class SharedTexts {
  readonly #texts = new Map<string, string>()

  of<Text extends string>(text: Text): Text {
    const known = this.#texts.get(text)
    if (known !== undefined) return known as Text
    this.#texts.set(text, text)
    return text
  }
}
