import { SCENARIOS, type ScenarioName } from './contenders/live-apps.js'
import { LIVE_LIMITERS, type LiveLimiterName } from './contenders/live-limiters.js'
import { differenceOfMedians } from './harness/intervals.js'
import { median } from './harness/rounds.js'
import { printTable } from './harness/table.js'
import { type LiveServer, serveInTurns, startLiveServer } from './live-server.js'

const PROCESSES = 15
/** Servers take turns after so few requests, so that all of them meet whatever else the machine does. */
const TURNS = { turns: 20, count: 1_000 }
const AT_A_TIME = 128

/**
 * What a limiter costs a live Express server: user CPU of the server's process, above that of a server whose
 * middleware only calls `next()`. One process differs from the next by more than what is measured (memory
 * layout, compiler), so each contender runs in many.
 */
export async function benchLive(): Promise<void> {
  const names = Object.keys(LIVE_LIMITERS) as LiveLimiterName[]
  for (const scenario of Object.keys(SCENARIOS) as ScenarioName[]) {
    await compareLive(scenario, names, PROCESSES)
  }
}

/** Compares contenders in one scenario, and prints the table. */
export async function compareLive(
  scenario: ScenarioName,
  names: readonly LiveLimiterName[],
  processes: number,
): Promise<void> {
  const samplesUs = new Map<LiveLimiterName, number[]>(names.map((name) => [name, []]))
  for (let i = 0; i < processes; i++) {
    for (const [name, us] of await runProcesses(scenario, names)) samplesUs.get(name)?.push(us)
  }
  const nothing = samplesUs.get('nothing') ?? []
  const rows = [...samplesUs].map(([name, samples]) => {
    const above = differenceOfMedians(samples, nothing)
    const interval = `${above.low.toFixed(1)} to ${above.high.toFixed(1)}`
    return [name, median(samples).toFixed(1), above.median.toFixed(1), interval]
  })
  const title = `Live, ${scenario}: user CPU of a request, ${processes} processes each, medians`
  printTable(title, ['contender', 'µs', 'above nothing', '95 %'], rows)
}

/** Runs one process of each contender. Returns the user CPU of a request, in microseconds. */
async function runProcesses(scenario: ScenarioName, names: readonly LiveLimiterName[]) {
  const servers: LiveServer[] = []
  const usedNs = new Map<LiveLimiterName, number>()
  try {
    for (const name of names) servers.push(await startLiveServer(name, scenario, { atATime: AT_A_TIME }))
    await serveInTurns(servers, TURNS, (name, { userCpuNs }) => {
      usedNs.set(name, (usedNs.get(name) ?? 0) + userCpuNs)
    })
    return Array.from(usedNs, ([name, ns]) => [name, ns / TURNS.turns / TURNS.count / 1000] as const)
  } finally {
    await Promise.all(servers.map((server) => server.end()))
  }
}
