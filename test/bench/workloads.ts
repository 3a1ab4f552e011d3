/** The charges of one round. A round goes on with the keys where the last one stopped. */
export interface Workload {
  readonly callers: number
  readonly keys: number
  readonly decisions: number
  /** Units per key: more than all rounds take, warm-up included. Of a lower limit, tokens come back later. */
  readonly limit: number
}

export type WorkloadName = 'many keys' | 'one key' | 'one caller'

/** How many rounds count. All rounds together draw each key equally often. */
export interface TimedWorkload extends Workload {
  readonly rounds: number
}

export type Workloads = Readonly<Record<WorkloadName, TimedWorkload>>

/** With `--short` on the command line: a first look, in a third of the time. */
export const isShort = process.argv.includes('--short')

/** For caches. Rounds are short, so that a noisy machine hits all alike. */
export const CACHE_WORKLOADS: Workloads = {
  'many keys': {
    callers: 200,
    keys: 10_000,
    decisions: 50_000,
    limit: 1_000,
    rounds: isShort ? 5 : 15,
  },
  'one key': {
    callers: 200,
    keys: 1,
    decisions: 50_000,
    limit: 5_000_000,
    rounds: isShort ? 5 : 15,
  },
  'one caller': {
    callers: 1,
    keys: 10_000,
    decisions: 1_000,
    limit: 1_000,
    rounds: isShort ? 20 : 50,
  },
}

/** For databases, where a peer's round takes ten times longer for each decision. */
export const SQL_WORKLOADS: Workloads = {
  'many keys': {
    callers: 200,
    keys: 10_000,
    decisions: 10_000,
    limit: 1_000,
    rounds: isShort ? 3 : 9,
  },
  'one key': {
    callers: 200,
    keys: 1,
    decisions: 10_000,
    limit: 5_000_000,
    rounds: isShort ? 3 : 9,
  },
  'one caller': { callers: 1, keys: 10_000, decisions: 500, limit: 1_000, rounds: 20 },
}
