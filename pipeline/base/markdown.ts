/** A Markdown table. Cells become single lines with `|` escaped. */
export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(cell).join(' | ')} |\n`
  return `${line(head)}|${'---|'.repeat(head.length)}\n${rows.map(line).join('')}`
}

function cell(text: string): string {
  return text.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|')
}

/** A text of one line as a paragraph: its begin makes no heading, quote, list, rule or block of code or HTML. */
export function markdownParagraph(line: string): string {
  return line.replace(/^(?=[#>*+<_-]|```|~~~)/, '\\')
}
