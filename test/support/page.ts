import { readFile, writeFile } from 'node:fs/promises'

/** Replaces what stands in the file at `path` between the marks of `name`, such as `<!-- soak store -->`, by what it is made into. */
export async function replaceBetweenMarks(
  path: string,
  name: string,
  replacement: (earlier: string) => string,
): Promise<void> {
  const [begin, end] = [`<!-- ${name} -->`, `<!-- end of ${name} -->`]
  const page = await readFile(path, 'utf8')
  const [before, rest] = page.split(begin, 2)
  const [earlier, after] = rest?.split(end, 2) ?? []
  if (before === undefined || earlier === undefined || after === undefined)
    throw new Error(`${path} has no place for ${name}`)
  await writeFile(path, `${before}${begin}\n${replacement(earlier)}\n${end}${after}`)
}
