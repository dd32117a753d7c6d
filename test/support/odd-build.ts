import { crowd, type Workspace, writeSmallBuild } from './pipeline.ts'

/** Slugs that readers mistake for something else: a missing value, a number, a date, two columns, another encoding. */
const ODD = ['null', 'NaN', '007', '1e5', '2025-03-02', 'true', 'with,comma', 'with"quote', 'caf\u00e9/\u{1f600}']

/** Sources whose release has odd slugs, and numbers that a double cannot hold. */
export async function writeOddBuild(workspace: Workspace): Promise<void> {
  const day = '2025-03-03'
  const odd = ODD.map((slug, index) => {
    return { timestamp: `${day}T12:00:00Z`, model_permaslug: slug, prompt_tokens: String(index + 1) }
  })
  const large = crowd(60, (index) => 9_007_199_254_740_991n - BigInt(index))
  await writeSmallBuild(workspace, { sources: [{ records: [...large, ...large, ...odd] }] })
}
