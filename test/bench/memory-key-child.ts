import assert from 'node:assert/strict'
import { getHeapStatistics } from 'node:v8'
import { MemoryStore, type Options } from 'express-rate-limit'
import { createLimiter, tokenBucket } from 'headgate'
import { keyText, shuffledIndexes } from './contenders/keys.js'
import type { Sample } from './gates/gate.js'
import { answerQuestions } from './harness/child.js'
import { median } from './harness/rounds.js'
import { measure } from './harness/usage.js'

const KEYS = 100_000
/** Units per key. A run is too short to refill one. */
const LIMIT = 100
const WINDOW_DAYS = 20 // the peer's timer ends at 24.8
/** Strings are made shortly before they are charged, as those of requests are. */
const BATCH = 1_000
/** Rounds before those that count. V8 needs that long to compile the code. */
const WARM_ROUNDS = 5
const ROUNDS = 5

/** Charges keys one after the other. Returns how many were allowed, and how many denied. */
type Charge = (keys: readonly string[]) => Promise<{ readonly allowed: number; readonly denied: number }>

function headgate(): Charge {
  const policy = tokenBucket({ capacity: LIMIT, refill: LIMIT, every: `${WINDOW_DAYS}d` })
  const limiter = createLimiter({ policy, key: (subject: string) => subject })
  return async (keys) => {
    let allowed = 0
    let denied = 0
    for (const key of keys) {
      const decision = await limiter.charge(key)
      if (decision.allowed) allowed++
      else denied++
    }
    return { allowed, denied }
  }
}

/** express-rate-limit's store counts, and its middleware compares with the limit. */
function expressRateLimit(): Charge {
  const store = new MemoryStore()
  store.init({ windowMs: WINDOW_DAYS * 24 * 60 * 60 * 1000 } as Options)
  return async (keys) => {
    let allowed = 0
    let denied = 0
    for (const key of keys) {
      const client = await store.increment(key)
      if (client.totalHits <= LIMIT) allowed++
      else denied++
    }
    return { allowed, denied }
  }
}

const CONTENDERS = { headgate, 'express-rate-limit': expressRateLimit } as const

/** The contenders that decide by key in memory. */
export type KeyedName = keyof typeof CONTENDERS

const name = process.argv[2] as KeyedName
const order = shuffledIndexes(KEYS)

answerQuestions(async (): Promise<Sample> => {
  const charge = CONTENDERS[name]()
  for (let round = 0; round < WARM_ROUNDS; round++) await chargeAll(charge)
  const samples: Sample[] = []
  for (let round = 0; round < ROUNDS; round++) samples.push(...(await chargeAll(charge)))
  await checkLimit(charge)
  const total = (figure: string) => samples.reduce((sum, sample) => sum + (sample[figure] as number), 0)
  const charges = BATCH * samples.length
  return {
    'decisions/s': (charges / total('wallNs')) * 1e9,
    'wall ns': total('wallNs') / charges,
    'CPU ns': total('cpuNs') / charges,
    // A collection during a batch hides what the batch has allocated, but few batches have one.
    'bytes allocated': median(samples.map(({ bytes = 0 }) => bytes)) / BATCH,
  }
})

/** Charges each key once. Returns what each batch took, without the time to make its strings. */
async function chargeAll(charge: Charge): Promise<Sample[]> {
  const samples: Sample[] = []
  for (let at = 0; at < KEYS; at += BATCH) {
    const keys = Array.from(order.subarray(at, at + BATCH), keyText)
    const bytesBefore = getHeapStatistics().used_heap_size
    const usage = measure()
    const { allowed, denied } = await charge(keys)
    const { wallNs, cpuNs } = usage()
    samples.push({ wallNs, cpuNs, bytes: getHeapStatistics().used_heap_size - bytesBefore })
    assert.equal(allowed + denied, keys.length, `${name}: not every charge was decided`)
    assert.equal(denied, 0, `${name}: a charge below the limit was denied`)
  }
  return samples
}

/** Checks that a key is denied exactly at its limit. */
async function checkLimit(charge: Charge): Promise<void> {
  const decided = await charge(Array.from({ length: LIMIT }, () => keyText(0)))
  const taken = WARM_ROUNDS + ROUNDS
  assert.deepEqual(decided, { allowed: LIMIT - taken, denied: taken }, `${name}: miscounted`)
}
