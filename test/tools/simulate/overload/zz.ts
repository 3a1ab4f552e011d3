import { envoyGradient, fixedLimit, gradient2, overloadGuard } from './guards.js'
import { SCENARIOS } from './scenarios.js'
import { runOverload } from './world.js'

const [only = '', seeds = '2'] = process.argv.slice(2)
for (const [name, sc] of Object.entries(SCENARIOS)) {
  if (!name.includes(only)) continue
  for (let seed = 1; seed <= +seeds; seed++) {
    const t = performance.now()
    const f = runOverload(sc, fixedLimit(16), seed),
      o = runOverload(sc, overloadGuard, seed)
    const ms = performance.now() - t
    const more = process.env.ALL
      ? [envoyGradient, gradient2].map((g) => (runOverload(sc, g, seed).good / f.good).toFixed(3)).join(' ')
      : ''
    const p = (o2: typeof o, q: number) => o2.criticalMs[Math.floor(o2.criticalMs.length * q)]?.toFixed(1)
    const within = [...o.byTenant]
      .filter(([k]) => k.startsWith('tenant'))
      .map(([, v]) => 1 - v.good / v.sent)
      .sort((a, b) => b - a)
    console.log(
      name.padEnd(32),
      seed,
      (o.good / f.good).toFixed(3),
      'denied',
      o.denied,
      'late',
      o.late,
      'limit',
      o.limit?.toFixed(1),
      more,
      o.criticalMs.length ? `crit ${o.criticalMs.length} p99 ${p(o, 0.99)} fixed ${p(f, 0.99)}` : '',
      within.length
        ? `worst tenant ${within[0]?.toFixed(4)} heavy ${o.byTenant.get('heavy')?.good} ${o.byTenant.get('heavy')?.sent}`
        : '',
      ms.toFixed(0),
    )
  }
}
