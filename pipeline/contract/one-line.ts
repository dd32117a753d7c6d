/** The text without line breaks and other control characters, which would end a line or a field of some formats. */
export function oneLine(text: string): string {
  return text.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim()
}
