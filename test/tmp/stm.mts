import { Database } from '/work/leanp/pipeline/base/database.ts'
import { createWorkspace, writeSmallBuild, buildIn, removeWorkspace } from '/work/leanp/test/support/pipeline.ts'
const t = new Map<string, [number, number]>()
let on = false
for (const m of ['run','execute','rows','script','append','define','setVariable','setTimeZone','close','transaction'] as const) {
  const o = (Database.prototype as any)[m]; if (!o) continue
  ;(Database.prototype as any)[m] = function (...a: any[]) {
    const t0 = performance.now(); const r = o.apply(this, a)
    const fin = () => { if (!on) return; const k = m + ' ' + String(a[0] ?? '').slice(0, 60).replace(/\s+/g, ' '); const e = t.get(k) ?? [0, 0]; e[0]++; e[1] += performance.now() - t0; t.set(k, e) }
    if (r?.finally) return r.finally(fin); fin(); return r
  }
}
for (let i = 0; i < 30; i++) {
  on = i >= 10
  const w = await createWorkspace()
  await writeSmallBuild(w, { sources: [{ records: [{ model_permaslug: 'a/b', prompt_tokens: '5' }] }] })
  await buildIn(w)
  await removeWorkspace(w)
}
let s = 0, n = 0
for (const [k, [c, ms]] of [...t].sort((a, b) => b[1][1] - a[1][1])) { console.log((ms / 20).toFixed(2), c / 20, k); if (!/^(define|setV|setT|trans|script|run)/.test(k)) { s += ms / 20; n += c / 20 } }
console.log(s, n)
