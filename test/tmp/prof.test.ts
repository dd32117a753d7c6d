import { it } from 'vitest'
import { newWorkspace, writeSmallBuild, buildIn } from '../support/pipeline.ts'
it('prof', async () => {
  for (let i = 0; i < 20; i++) {
    const c0 = process.cpuUsage(); const t0 = performance.now()
    const w = await newWorkspace()
    await writeSmallBuild(w, { sources: [{ records: [{ model_permaslug: 'a/b', prompt_tokens: '5' }] }] })
    await buildIn(w)
    const c = process.cpuUsage(c0)
    console.log(i, 'user', (c.user/1000).toFixed(0), 'sys', (c.system/1000).toFixed(0), 'wall', (performance.now()-t0).toFixed(0))
  }
})
