import assert from 'node:assert/strict'
import { keyText, shuffledIndexes } from './contenders/keys.js'
import type { MakeContender, ServerContender } from './contenders/server-contender.js'
import { answerQuestions } from './harness/child.js'
import { measure, type Usage } from './harness/usage.js'
import { countWrites } from './harness/writes.js'
import type { Workload } from './workloads.js'

/** The parent's questions: a warm-up, what a round presupposes, a round, or the counts of all rounds. */
export type Question = { readonly do: 'warmUp' | 'prepare' | 'round' | 'check' }

/** What a round took in this process, and how long a caller waited for a decision. */
export interface CallerUsage extends Usage {
  /** How often a socket was written to. */
  readonly writes: number
  readonly medianNs: number
  readonly p99Ns: number
}

/**
 * How many decisions one caller makes before many do. V8 allocates objects like those that survived a
 * collection in old space. If the first requests of a process all come at once, their objects survive, and V8
 * never revises its choice.
 */
const FIRST_DECISIONS = 5_000
const CHECKED_KEYS = 100
const LAST_UNITS = 100
/**
 * Of many callers every seventh decision is timed, so that the clock costs next to nothing; of a lone one,
 * all.
 */
const TIMED_OF_MANY = 7

/** Runs rounds of a contender, in a child. Arguments: the contender, its server's address and a workload. */
export async function callAsAsked(makers: Readonly<Record<string, MakeContender>>): Promise<void> {
  const [name = '', url = '', json = ''] = process.argv.slice(2)
  const workload = JSON.parse(json) as Workload
  process.once('disconnect', () => process.exit()) // an open connection would keep it running
  const make = makers[name]
  assert.ok(make, `There is no contender ${name}.`)
  const callers = new Callers(name, await make(url, workload.limit), workload)
  answerQuestions((question: Question) => callers[question.do]())
}

class Callers {
  readonly #keys: readonly string[]
  /** Each key equally often. */
  readonly #draws: readonly string[]
  readonly #writes = countWrites()
  #drawn = 0

  constructor(
    readonly name: string,
    readonly contender: ServerContender,
    readonly workload: Workload,
  ) {
    const { keys: keyCount, decisions } = workload
    const keys = Array.from({ length: keyCount }, (_, i) => contender.keyOf(keyText(i)))
    this.#keys = keys
    this.#draws = Array.from(
      shuffledIndexes(Math.max(decisions, keyCount)),
      (i) => keys[i % keyCount] as string,
    )
  }

  /** A round that begins with a single caller. */
  async warmUp(): Promise<void> {
    const { callers, decisions } = this.workload
    const first = Math.min(FIRST_DECISIONS, decisions)
    await this.prepare()
    await this.#call(1, first)
    await this.#call(callers, decisions - first)
  }

  /** Lets the contender do first what its decisions of the next round presuppose. */
  async prepare(): Promise<void> {
    const { contender, workload } = this
    if (contender.prepare === undefined) return
    for (let i = 0; i < workload.decisions; i++) await contender.prepare(this.#keyAt(this.#drawn + i))
  }

  async round(): Promise<CallerUsage> {
    const { callers, decisions } = this.workload
    const writesBefore = this.#writes()
    const usage = measure()
    const { allowed, denied, waited } = await this.#call(callers, decisions)
    const used = usage()
    const writes = this.#writes() - writesBefore
    assert.equal(allowed + denied, decisions, `${this.name}: not every charge was answered`)
    assert.equal(denied, 0, `${this.name}: charges below the limit were denied`)
    const sorted = Float64Array.from(waited).sort()
    const quantileNs = (share: number) => 1e6 * (sorted[Math.floor(share * sorted.length)] ?? Number.NaN)
    return { ...used, writes, medianNs: quantileNs(0.5), p99Ns: quantileNs(0.99) }
  }

  /** Each caller requests a decision once it has the last one. All of them share one sequence of keys. */
  async #call(callers: number, decisions: number) {
    const end = this.#drawn + decisions
    const every = callers === 1 ? 1 : TIMED_OF_MANY
    const answers = { allowed: 0, denied: 0, waited: [] as number[] }
    const call = async () => {
      while (this.#drawn < end) {
        const startMs = this.#drawn % every === 0 ? performance.now() : undefined
        if (await this.contender.decide(this.#keyAt(this.#drawn++))) answers.allowed++
        else answers.denied++
        if (startMs !== undefined) answers.waited.push(performance.now() - startMs)
      }
    }
    await Promise.all(Array.from({ length: callers }, call))
    return answers
  }

  #keyAt(draw: number): string {
    return this.#draws[draw % this.#draws.length] as string
  }

  /**
   * That keys hold exactly what they were charged, and that one that is charged on stops exactly at its
   * limit.
   */
  async check(): Promise<void> {
    const { name, contender } = this
    const { length } = this.#draws
    const left = (length - (this.#drawn % length)) % length
    await this.#call(this.workload.callers, left) // the warm-up ended in the middle of the sequence
    const expected = this.#drawn / this.#keys.length
    for (let i = 0; i < this.#keys.length; i += Math.ceil(this.#keys.length / CHECKED_KEYS)) {
      assert.equal(await contender.used(this.#keys[i] as string), expected, `${name}: a key was miscounted`)
    }
    if (contender.leave === undefined) return
    const one = this.#keys[0] as string
    await contender.leave(one, LAST_UNITS)
    const answers = await Promise.all(Array.from({ length: 2 * LAST_UNITS }, () => contender.decide(one)))
    assert.equal(answers.filter(Boolean).length, LAST_UNITS, `${name}: the limit was not kept exactly`)
  }
}
