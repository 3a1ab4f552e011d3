import { setTimeout as pause } from 'node:timers/promises'
import { memoryStore, type Store } from 'headgate'
import { lockingStore, ownedStore, swappingStore } from './local-stores.js'
import type { Lane } from './player.js'
import { REAL, SETTABLE, SLOW } from './policies.js'
import type { RemoteName } from './remote-stores.js'
import type { Course } from './run-traces.js'
import { startSqlite } from './sqlite-store.js'

/** A store under test. */
export interface Subject {
  readonly name: string
  readonly courses: readonly Course[]
  /** Traces that run at once. */
  readonly lanes: number
  start(): Promise<{ openLane(): Promise<Lane> | Lane; stop(): Promise<void> }>
}

const START_MS = 1_790_000_000_000

/** A store with a settable clock: time may be set to any moment, and back. */
const settable = (isAtomic: boolean, skewMs = 0): Course[] => {
  const both = { policies: SETTABLE, longestMs: 9_000_000, isAtomic }
  const rules = { isAtomic, canStepBack: false, longestMs: 9_000_000, skewMs }
  const oneKey: Course = {
    name: 'settable clock, back and forth',
    rules: { ...rules, canStepBack: true },
    traces: { ...both, canStepBack: true, canCharge: isAtomic ? 'several keys' : 'one key' },
  }
  const forward: Course = {
    name: 'settable clock, forward',
    rules: { ...rules, skewMs: 0 },
    traces: { ...both, canStepBack: false, canCharge: 'several keys' },
  }
  return [oneKey, forward]
}

/**
 * A store with a real clock, which short windows pass by. `toleranceMs` is for a store whose batches are not of
 * one moment, and `untimedMs` for one that applies operations which tell no time before the read that follows.
 */
const real = (isAtomic: boolean, toleranceMs = 0, untimedMs = 0): Course[] => {
  const longestMs = 400
  const traces = { policies: REAL, longestMs, canStepBack: false, isAtomic } as const
  const rules = { isAtomic, canStepBack: false, longestMs, toleranceMs, untimedMs }
  const short: Course = {
    name: 'real clock',
    rules,
    traces: { ...traces, canCharge: isAtomic ? 'several keys' : 'one key' },
  }
  const slow: Course = {
    name: 'real clock, slow policies',
    rules: { ...rules, toleranceMs: isAtomic ? toleranceMs : 10_000 },
    traces: { ...traces, policies: SLOW, canCharge: 'several keys' },
  }
  return [short, slow]
}

/** A lane over a new store, whose clock stands still until it is set. */
function settableLane(make: (clock: () => number) => Store): Lane {
  let nowMs = START_MS
  const clock = () => nowMs
  return {
    store: make(clock),
    nowMs: clock,
    advance(ms) {
      nowMs += ms
    },
  }
}

function local(name: string, courses: Course[], make: (clock: () => number) => Store): Subject {
  return {
    name,
    courses,
    lanes: 1,
    start: async () => ({ openLane: () => settableLane(make), stop: async () => undefined }),
  }
}

const waiting = { advance: async (ms: number) => void (await pause(Math.max(0, ms))) }

/** How long a server under load may take from one script of a batch to the next. */
const BETWEEN_SCRIPTS_MS = 300

function remote(name: RemoteName, isAtomic: boolean, toleranceMs = 0, untimedMs = 0): Subject {
  return {
    name,
    courses: real(isAtomic, toleranceMs, untimedMs),
    lanes: 128,
    async start() {
      const { remoteStarts } = await import('./remote-stores.js') // the drivers take long to load
      const { store, stop } = await remoteStarts[name]()
      return { openLane: () => ({ store, ...waiting }), stop }
    },
  }
}

/** All stores, by the order in which they run. */
export const SUBJECTS: readonly Subject[] = [
  local('memory', settable(true), (clock) => memoryStore({ clock })),
  local('compareAndSwapStore', settable(false, 1000), swappingStore),
  local('transactionStore', settable(true), lockingStore),
  local('ownerStore', settable(true), ownedStore),
  { name: 'SQLite', courses: settable(true), lanes: 1, start: () => startSqlite(settableLane) },
  remote('Redis', true, 0, BETWEEN_SCRIPTS_MS),
  remote('node-redis', true, 0, BETWEEN_SCRIPTS_MS),
  remote('leased Redis', true, 20, BETWEEN_SCRIPTS_MS),
  remote('Redis Cluster', false, 0, BETWEEN_SCRIPTS_MS),
  remote('memcached', false),
  remote('MariaDB', true),
  remote('PostgreSQL', true),
]
