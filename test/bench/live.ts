import { type LiveContender, SCENARIOS, type Scenario, type ScenarioName } from './contenders/live-apps.js'
import { LIVE_LIMITERS, type LiveLimiterName } from './contenders/live-limiters.js'
import {
  LIVE_LOGINS,
  type LiveLoginName,
  type LoginScenario,
  loginRequests,
} from './contenders/live-logins.js'
import { medianOf } from './harness/intervals.js'
import { median } from './harness/rounds.js'
import { printTable } from './harness/table.js'
import { type LiveSetup, type Served, serveInRounds } from './live-server.js'

const PROCESSES = 15
/** A guard costs more than the noise of a process. */
const LOGIN_PROCESSES = 9
const REQUESTS = 8_000
const AT_A_TIME = 128

/**
 * What a limiter costs a live Express server: user CPU of the server's process, above that of a server whose
 * middleware only calls `next()`. One process differs from the next by more than what is measured (memory
 * layout, compiler), so each contender runs in many.
 */
export async function benchLive(): Promise<void> {
  for (const scenario of COMPARED) {
    const names = scenario === ALL_HEADERS ? NAMES : NAMES.filter(isLegacy)
    await compareLive(scenario, limiterSetups(scenario, names))
  }
}

const NAMES = Object.keys(LIVE_LIMITERS) as LiveLimiterName[]
/** All but those of gates. */
const COMPARED = (Object.keys(SCENARIOS) as ScenarioName[]).filter((name) => name !== 'five limiters')
/** The scenario in which all kinds of headers are compared. */
const ALL_HEADERS: ScenarioName = 'allowed, 1 client'

function isLegacy(name: string): boolean {
  return name === 'nothing' || name.endsWith('legacy')
}

/** What a guard costs a live login form, likewise. */
export async function benchLiveLogin(): Promise<void> {
  for (const scenario of ['failure', 'success', 'success of a known browser'] as const) {
    await compareLive(`login, ${scenario}`, loginSetups(scenario), LOGIN_PROCESSES)
  }
}

/** Returns the servers of a scenario. The first is the one without a limiter. */
export function limiterSetups(
  scenario: ScenarioName,
  names: readonly LiveContender[],
  { atATime = AT_A_TIME, redisUrl }: { readonly atATime?: number; readonly redisUrl?: string } = {},
): LiveSetup[] {
  const { requests, status }: Scenario = SCENARIOS[scenario]
  return names.map((name) => ({
    name,
    args: [scenario, name, ...(redisUrl === undefined ? [] : [redisUrl])],
    requests: () => requests,
    status: name === 'nothing' ? 200 : status,
    atATime,
  }))
}

/** Returns the servers of a login form. The first is the one without a guard. */
export function loginSetups(
  scenario: LoginScenario,
  names: readonly LiveLoginName[] = Object.keys(LIVE_LOGINS) as LiveLoginName[],
  redisUrl?: string,
): LiveSetup[] {
  return names.map((name) => ({
    name,
    args: ['login', name, ...(redisUrl === undefined ? [] : [redisUrl])],
    requests: (port) => loginRequests(scenario, port),
    status: scenario === 'failure' ? 401 : 200,
    atATime: AT_A_TIME,
  }))
}

/** Compares servers with the first of them, and prints a table. */
export async function compareLive(
  what: string,
  setups: readonly LiveSetup[],
  processes = PROCESSES,
): Promise<void> {
  const served = await serveInRounds(setups, processes, REQUESTS)
  const samplesOf = (all: readonly Served[]) => all.map(({ userCpuNs }) => userCpuNs / REQUESTS / 1000)
  const [bare = []] = Array.from(served.values(), samplesOf)
  const rows = Array.from(served, ([name, all]) => {
    const samples = samplesOf(all)
    // By round: what the machine does meets the servers of one round.
    const above = medianOf(samples.map((us, round) => us - (bare[round] as number)))
    const interval = `${above.low.toFixed(1)} to ${above.high.toFixed(1)}`
    return [name, median(samples).toFixed(1), above.median.toFixed(1), interval]
  })
  const title = `Live, ${what}: user CPU of a request, ${processes} processes each, medians`
  printTable(title, ['contender', 'µs', `above ${setups[0]?.name}`, '95 %'], rows)
}
