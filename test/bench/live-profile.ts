import type { LiveLimiterName } from './contenders/live-limiters.js'
import type { Bar } from './harness/plot.js'
import type { Self } from './harness/profile.js'
import { median } from './harness/rounds.js'
import { printTable, whole } from './harness/table.js'
import { limiterSetups } from './live.js'
import { type Profiled, startLiveServer } from './live-server.js'
import { keepProfilePlots } from './profile-plots.js'

/** The limiters, and the files that are theirs. */
const FILES = {
  'headgate, legacy': 'dist/esm/',
  'headgate, both': 'dist/esm/',
  'express-rate-limit, legacy': 'node_modules/express-rate-limit/',
  'express-rate-limit, both': 'node_modules/express-rate-limit/',
  'headgate/express-rate-limit, legacy': 'dist/esm/',
  'headgate/express-rate-limit, both': 'dist/esm/',
  'rate-limiter-flexible, legacy': 'live-limiters|rate-limiter-flexible/',
  'a Map by hand, legacy': 'live-limiters',
} as const satisfies Partial<Record<LiveLimiterName, string>>

/** What is measured, and what a plot calls it. */
const SCENARIOS = { 'allowed, 1 client': 'one limiter', 'three limiters': 'three limiters' } as const
/** What all contenders can send. */
const PLOTTED = ', legacy'
const PROCESSES = 3
const REQUESTS = 10_000
const MOST_ROWS = 20

/**
 * Where a limiter spends its time in a live Express server, and what it allocates. A sample belongs to a
 * process as a whole, so processes differ less than in `live`; but it shows only what a limiter does itself,
 * not what it leaves behind for the rest of the request and for the garbage collector.
 */
export async function benchLiveProfile(): Promise<void> {
  const bars: Bar[] = []
  for (const [scenario, group] of Object.entries(SCENARIOS) as [keyof typeof SCENARIOS, string][]) {
    const names = Object.keys(FILES) as (keyof typeof FILES)[]
    const profiles = new Map<string, Profiled[]>(names.map((name) => [name, []]))
    for (let i = 0; i < PROCESSES; i++) {
      for (const setup of limiterSetups(scenario, names)) {
        const server = await startLiveServer(setup)
        const files = FILES[setup.name as keyof typeof FILES]
        profiles.get(setup.name)?.push(await server.profile(REQUESTS, files))
        await server.end()
      }
    }
    const rows = Array.from(profiles, ([name, all]) => {
      const us = median(all.map(({ cpuUs }) => sum(cpuUs) / REQUESTS)).toFixed(1)
      if (name.endsWith(PLOTTED)) bars.push({ group, label: name.replace(PLOTTED, ''), value: Number(us) })
      return [name, us, whole(median(all.map(({ bytes }) => sum(bytes) / REQUESTS)))]
    })
    const title = `Live, ${scenario}: sampled in the limiter itself, ${PROCESSES} processes each, medians`
    printTable(title, ['contender', 'µs a request', 'bytes a request'], rows)
    printSelf(`headgate, legacy, ${scenario}`, profiles.get('headgate, legacy') ?? [])
  }
  await keepProfilePlots(bars)
}

function sum(self: Self): number {
  return Object.values(self).reduce((all, own) => all + own, 0)
}

/** Prints the functions that took most by themselves. */
function printSelf(what: string, profiles: readonly Profiled[]): void {
  const places = new Set(profiles.flatMap(({ cpuUs }) => Object.keys(cpuUs)))
  const of = (kind: keyof Profiled, place: string) =>
    median(profiles.map((profile) => (profile[kind][place] ?? 0) / REQUESTS))
  const rows = Array.from(places, (place) => ({ place, us: of('cpuUs', place), bytes: of('bytes', place) }))
    .sort((a, b) => b.us - a.us)
    .slice(0, MOST_ROWS)
    .map(({ place, us, bytes }) => [place, us.toFixed(2), whole(bytes)])
  printTable(`Self time, ${what}`, ['function', 'µs a request', 'bytes a request'], rows)
}
