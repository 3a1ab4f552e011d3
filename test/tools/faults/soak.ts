import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Bundle } from '../../support/servers/bundle.js'
import { until } from '../../support/servers/wait.js'
import { messageOf } from './app.js'
import { whileIt } from './common-faults.js'
import type { Scene, Stage } from './stage.js'
import type { Target } from './target.js'

export interface SoakSettings {
  readonly target: Target
  /** A name that no run before had. */
  readonly run: string
}

/**
 * What an application counted itself, and what the store has counted for it, in units. What the fallback
 * admits counts in neither.
 */
export interface SoakCounts {
  readonly requests: number
  readonly bySource: Readonly<Record<string, number>>
  /** Admitted by the store, less what was refunded. */
  readonly admitted: number
  readonly charged: number
  /** What of `admitted` the store has not counted, summed over the clients. */
  readonly under: number
  /** Units of charges that failed or were answered too late: what the store took for them stays taken. */
  readonly outcomesUnknown: number
  /** Units of refunds that failed. */
  readonly refundsUnknown: number
  readonly crashes: readonly string[]
}

export interface SoakOutcome extends SoakCounts {
  readonly store: string
  readonly seconds: number
  readonly faults: number
  /** Megabytes in use after a collection of garbage, after each fault. */
  readonly heapMb: readonly number[]
  readonly hasEnded: boolean
}

/** What is done to a store in turn. None of it makes the store forget. */
const FAULTS: readonly ((stage: Stage) => Promise<unknown>)[] = [
  async ({ proxy }) => proxy.cut('reset'),
  ({ proxy }) => whileIt(proxy, { requestDelayMs: 75, replyDelayMs: 75 }, 1000),
  async ({ proxy }) => {
    await whileIt(proxy, { swallow: 'replies' }, 500)
    proxy.cut('reset') // what comes after a hole in it is no answer
  },
  async ({ proxy }) => proxy.halfClose('replies'),
  ({ proxy }) => whileIt(proxy, { cutReplyAt: 5 }, 500),
  async ({ server }) => {
    await server.kill('SIGSTOP')
    await pause(1000)
    await server.kill('SIGCONT')
  },
  async ({ proxy }) => {
    await proxy.refuse()
    proxy.cut('end')
    await pause(1000)
  },
  ({ proxy }) => whileIt(proxy, { msPerByte: 1 }, 500),
]
const CALM_MS = 2000
/** The module of the application. */
export const SOAKED = 'test/tools/faults/soak-child.ts'

export interface SoakOptions {
  readonly seconds: number
  /** The application, which is started from its sources otherwise. */
  readonly bundled?: Bundle
}

/** Runs mixed traffic on a store for a while, with a fault every few seconds, and compares the counts. */
export async function soak(scene: Scene, { seconds, bundled }: SoakOptions): Promise<SoakOutcome> {
  const stage = await scene.start()
  const settings: SoakSettings = { target: stage.target, run: Date.now().toString(36) }
  const flags = ['--no-warnings', '--expose-gc', ...(bundled ? [] : ['--import', 'tsx'])]
  const child = fork(bundled?.path ?? resolve(SOAKED), [JSON.stringify(settings)], { execArgv: flags })
  try {
    await messageOf(child)
    const exited = once(child, 'exit')
    const heapMb: number[] = []
    const untilMs = performance.now() + seconds * 1000
    let faults = 0
    while (performance.now() < untilMs) {
      await pause(CALM_MS)
      await FAULTS[faults++ % FAULTS.length]?.(stage)
      await stage.proxy.heal()
      heapMb.push(((await ask(child, 'memory')) as number) / 2 ** 20)
    }
    await until('the server answers', () => stage.answers().then(() => true))
    await pause(CALM_MS)
    const counted = (await ask(child, 'count')) as SoakCounts
    const hasEnded = await Promise.race([exited.then(() => true), pause(3000, false, { ref: false })])
    return { store: scene.store, seconds, faults, heapMb, hasEnded, ...counted }
  } finally {
    child.kill('SIGKILL')
    await stage.stop()
  }
}

/** What an outcome breaks of what is promised. */
export function brokenPromises(outcome: SoakOutcome): string[] {
  const { admitted, charged, under, outcomesUnknown, refundsUnknown, heapMb, crashes, hasEnded } = outcome
  const broken = [...new Set(crashes)]
  if (under > refundsUnknown) broken.push(`${under} units admitted are not charged`)
  if (charged - admitted > outcomesUnknown + refundsUnknown) broken.push(`${charged} charged of ${admitted}`)
  if (growthMb(heapMb) > 3) broken.push(`memory grows: ${heapMb.map(Math.round).join(' ')} MB`)
  if (!hasEnded) broken.push('it does not end by itself')
  return broken
}

/** How much more was in use in the last third than in the second. The first one warms up. */
export function growthMb(heapMb: readonly number[]): number {
  const third = Math.ceil(heapMb.length / 3)
  const middle = heapMb.slice(third, 2 * third)
  const last = heapMb.slice(2 * third)
  return Math.min(...last) - Math.max(...middle)
}

async function ask(child: ChildProcess, question: 'memory' | 'count'): Promise<unknown> {
  child.send(question)
  return messageOf(child)
}
