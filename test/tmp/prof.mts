import { createWorkspace, writeSmallBuild, buildIn, removeWorkspace } from '/work/leanp/test/support/pipeline.ts'
for (let i = 0; i < Number(process.env.N ?? 40); i++) {
  const w = await createWorkspace()
  await writeSmallBuild(w, { sources: [{ records: [{ model_permaslug: 'a/b', prompt_tokens: '5' }] }] })
  const c0 = process.cpuUsage();
  await buildIn(w)
  const c = process.cpuUsage(c0)
  if (i%10==9) console.log(i, 'user', (c.user/1000).toFixed(0), 'sys', (c.system/1000).toFixed(0))
  await removeWorkspace(w)
}
