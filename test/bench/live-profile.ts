import { LIVE_LISTENERS, type LiveLimiterName } from './contenders/live-limiters.js'
import { medianOf } from './harness/intervals.js'
import type { Bar } from './harness/plot.js'
import type { Self } from './harness/profile.js'
import { median } from './harness/rounds.js'
import { printTable, whole } from './harness/table.js'
import { limiterSetups } from './live.js'
import { type Profiled, startLiveServer } from './live-server.js'
import { keepProfilePlots } from './page-plots.js'

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
const LISTENER_PROCESSES = 9
/** The functions of src/limiter/charge-limits.ts, and those of Node.js that they call. */
const REPORTING = /^(reportDecision|emit|nearLimits|listenerCount|get hasSubscribers) /
const LISTENER_FILES =
  'dist/esm/|node:diagnostics_channel|live-limiters|node_modules/prom-client/|node_modules/@opentelemetry/'

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

/**
 * What listening costs, sampled likewise: in headgate, in the listener, and in the library that it calls.
 */
export async function benchListenersProfile(): Promise<void> {
  const names = Object.keys(LIVE_LISTENERS) as (keyof typeof LIVE_LISTENERS)[]
  const profiles = new Map<string, Profiled[]>(names.map((name) => [name, []]))
  for (let i = 0; i < LISTENER_PROCESSES; i++) {
    for (const setup of limiterSetups('allowed, 1 client', names)) {
      const server = await startLiveServer(setup)
      profiles.get(setup.name)?.push(await server.profile(REQUESTS, LISTENER_FILES))
      await server.end()
    }
  }
  const rows = Array.from(profiles, ([name, all]) => {
    const us = all.map(({ cpuUs }) => sum(cpuUs) / REQUESTS)
    const interval = medianOf(us)
    const bytes = whole(median(all.map((profile) => sum(profile.bytes) / REQUESTS)))
    const reporting = median(all.map(({ cpuUs }) => sum(ofReporting(cpuUs)) / REQUESTS))
    return [
      name,
      interval.median.toFixed(1),
      `${interval.low.toFixed(1)} to ${interval.high.toFixed(1)}`,
      reporting.toFixed(2),
      bytes,
    ]
  })
  const title = `Live, listeners, allowed: sampled, ${LISTENER_PROCESSES} processes each, medians`
  printTable(title, ['contender', 'µs a request', '95 %', 'reporting', 'bytes a request'], rows)
}

/** Returns what the functions take that report a decision to whoever listens. */
function ofReporting(self: Self): Self {
  return Object.fromEntries(Object.entries(self).filter(([place]) => REPORTING.test(place)))
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
