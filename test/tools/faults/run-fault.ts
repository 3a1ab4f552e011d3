import { setTimeout as pause } from 'node:timers/promises'
import type { Bundle } from '../../support/servers/bundle.js'
import { until } from '../../support/servers/wait.js'
import { type Admitted, mostAdmitted } from './admitted.js'
import { type App, type AppReport, type Choice, type Resources, startApp } from './app.js'
import { type Load, type Seen, startLoad } from './load.js'
import type { Fault, Stage } from './stage.js'
import { waits } from './waits.js'

const SETTLES_MS = 200
const RECOVERS_WITHIN_MS = 5000

/** What came of a fault. */
export interface Outcome {
  readonly choice: Choice
  readonly fault: Fault
  readonly app: AppReport
  readonly hasEnded: boolean
  readonly unanswered: readonly string[]
  /** The longest of a thousand, as clients saw it. */
  readonly clientP999: number
  readonly seen: readonly Seen[]
  /** What was seen from the fault's begin until the store answered again. */
  readonly duringFault: readonly Seen[]
  readonly recovery: Recovery
  readonly admitted: Admitted
  /** What the application had open in calm, before and after; before, only where there was calm. */
  readonly before: Resources | undefined
  readonly after: Resources
}

/** Milliseconds from when the server answered. `undefined` = it has not come to that. */
export interface Recovery {
  readonly firstMs: number | undefined
  /** When more than 99% of what was seen from then on was decided by the store. */
  readonly steadyMs: number | undefined
}

export interface RunOptions {
  /** How long nothing happens, three times. */
  readonly calmMs?: number
  /** The application, which is started from its sources otherwise. */
  readonly bundled?: Bundle
}

let runs = 0

/** Runs an application with 200 requests at a time before, during and after a fault. */
export async function runFault(
  stage: Stage,
  fault: Fault,
  choice: Choice,
  { calmMs = 1000, bundled }: RunOptions = {},
): Promise<Outcome> {
  await fault.before?.(stage)
  const app = await startApp({ target: stage.target, choice }, bundled)
  const run = `${Date.now().toString(36)}-${++runs}`
  const load = startLoad({ port: app.port, run, posts: choice === 'function' })
  try {
    return await play({ stage, fault, choice, calmMs, app, load })
  } finally {
    await stage.proxy.heal()
    await load.stop()
    app.kill()
  }
}

interface Play {
  readonly stage: Stage
  readonly fault: Fault
  readonly choice: Choice
  readonly calmMs: number
  readonly app: App
  readonly load: Load
}

async function play({ stage, fault, choice, calmMs, app, load }: Play): Promise<Outcome> {
  const before = fault.before ? undefined : await warmUp(app, load, calmMs)
  const faultAtMs = Date.now()
  await fault.inflict(stage)
  await until('the server answers', () => stage.answers().then(() => true))
  const answersAtMs = Date.now()
  await untilRecovered(load, answersAtMs)
  await pause(calmMs)
  const after = await atRest(app, load)
  await load.stop()
  const report = await app.ask('close')
  const { seen, unanswered } = load
  return {
    choice,
    fault,
    app: report,
    hasEnded: await app.hasEnded(),
    unanswered,
    clientP999: clientP999(seen),
    seen,
    duringFault: seen.filter(({ decidedAtMs: at }) => at >= faultAtMs && at < answersAtMs),
    recovery: recoveryOf(seen, answersAtMs),
    admitted: mostAdmitted(seen, choice),
    before,
    after,
  }
}

/** Lets everything be compiled and connected, and then some calm pass. */
async function warmUp(app: App, load: Load, calmMs: number): Promise<Resources> {
  await pause(calmMs)
  const resources = await atRest(app, load)
  await app.ask('startCounting')
  load.goOn()
  await pause(calmMs)
  return resources
}

async function atRest(app: App, load: Load): Promise<Resources> {
  await load.rest()
  await pause(SETTLES_MS)
  return app.ask('resources')
}

async function untilRecovered(load: Load, fromMs: number): Promise<void> {
  while (Date.now() - fromMs < RECOVERS_WITHIN_MS) {
    const latest = load.seen.slice(-200).filter(({ decidedAtMs }) => decidedAtMs >= fromMs)
    if (latest.length === 200 && latest.every(({ source }) => source === 'store')) return
    await pause(20)
  }
}

function clientP999(seen: readonly Seen[]): number {
  const took = waits()
  for (const { tookMs } of seen) took.add(tookMs)
  return took.summary().p999
}

function recoveryOf(seen: readonly Seen[], fromMs: number): Recovery {
  const later = seen.filter(({ decidedAtMs }) => decidedAtMs >= fromMs)
  later.sort((a, b) => a.decidedAtMs - b.decidedAtMs)
  let others = 0
  let steadyFromMs: number | undefined
  let firstAtMs: number | undefined
  for (const [i, { source, decidedAtMs }] of [...later.entries()].reverse()) {
    if (source === 'store') firstAtMs = decidedAtMs
    else others++
    if (others / (later.length - i) < 0.01) steadyFromMs = decidedAtMs
  }
  return { firstMs: since(firstAtMs, fromMs), steadyMs: since(steadyFromMs, fromMs) }
}

function since(atMs: number | undefined, fromMs: number): number | undefined {
  return atMs === undefined ? undefined : Math.round(atMs - fromMs)
}
