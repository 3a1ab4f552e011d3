import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Bundle } from '../../support/servers/bundle.js'
import type { Target } from './target.js'
import type { WaitSummary } from './waits.js'

/**
 * What the application does where the store cannot decide: `'function'` denies POST requests, and decides
 * others locally.
 */
export type Choice = 'allow' | 'deny' | 'local' | 'function'

export interface AppSettings {
  readonly target: Target
  readonly choice: Choice
}

/** The questions to an application, and its answers. */
export interface Answers {
  /** Forgets how long requests waited before. */
  readonly startCounting: object
  readonly resources: Resources
  /** It closes everything; then nothing keeps it running. */
  readonly close: AppReport
}
export type Question = keyof Answers

/** What an application has open while it has nothing to do. */
export interface Resources {
  /** Without those of its own clients. */
  readonly sockets: number
  readonly listeners: number
  readonly kinds: Readonly<Record<string, number>>
}

export interface AppReport {
  /** How long requests waited in the limiter. */
  readonly waits: WaitSummary
  /** The longest that the process was busy with something else, or did not get a processor at all. */
  readonly heldUpMs: number
  /** How many answers of a source and status, such as `'store 200'`, it sent. */
  readonly counts: Readonly<Record<string, number>>
  readonly crashes: readonly string[]
  readonly warnings: readonly string[]
  readonly isHealthy: boolean
}

/** An application in a process of its own. */
export interface App {
  readonly port: number
  ask<Q extends Question>(question: Q): Promise<Answers[Q]>
  /** Whether it exited soon after it was closed, without a signal. */
  hasEnded(): Promise<boolean>
  kill(): void
}

/** The module that it runs. */
export const APP = 'test/tools/faults/app-child.ts'
const ENDS_WITHIN_MS = 3000

/** Starts it from its sources, or from a bundle of them. */
export async function startApp(settings: AppSettings, bundled?: Bundle): Promise<App> {
  const child = fork(bundled?.path ?? resolve(APP), [JSON.stringify(settings)], {
    execArgv: ['--no-warnings', ...(bundled ? [] : ['--import', 'tsx'])],
  })
  const exited = new Promise<number | null>((done) => child.once('exit', done))
  const { port } = (await messageOf(child)) as { port: number }
  return {
    port,
    async ask<Q extends Question>(question: Q) {
      child.send({ question })
      return (await messageOf(child)) as Answers[Q]
    },
    async hasEnded() {
      const ended = await Promise.race([exited, pause(ENDS_WITHIN_MS, 'not', { ref: false })])
      return ended === 0
    },
    kill: () => void child.kill('SIGKILL'),
  }
}

/** What a child process sends next. Rejects where it ends before that. */
export async function messageOf(child: ChildProcess): Promise<unknown> {
  const over = new AbortController()
  const ended = once(child, 'exit', over).then(([code]) => {
    throw new Error(`The application ended early, with code ${code}.`)
  })
  try {
    const [message] = await Promise.race([once(child, 'message', over), ended])
    return message
  } finally {
    over.abort()
  }
}
