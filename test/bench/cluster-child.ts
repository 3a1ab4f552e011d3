import assert from 'node:assert/strict'
import cluster, { type Worker } from 'node:cluster'
import { createLimiter, fixedWindow, memoryStore, type Store } from 'headgate'
import { clusterStore } from 'headgate/cluster'
import { redisStore } from 'headgate/redis'
import { connect } from './contenders/redis-stores.js'
import { answerQuestions } from './harness/child.js'

/** What all processes of a contender do together: a warm-up, or a round. */
export interface Question {
  readonly do: 'warmUp' | 'round'
}

export interface Answer {
  readonly wallNs: number
  readonly allowed: number
  readonly denied: number
}

/** Decisions of all processes together. Each key has as many, and half of them are allowed. */
export const DECISIONS = { warmUp: 40_000, round: 100_000 } as const
const KEYS = 100
const CALLERS = 200

const STORES: Readonly<Record<string, (url: string) => Store>> = {
  memory: () => memoryStore(),
  'node:cluster': () => clusterStore(),
  Redis: (url) => redisStore(connect(url)),
}

type Tally = Pick<Answer, 'allowed' | 'denied'>

// Arguments: a store, how many workers, and the address of its server. Without a worker, the process decides.
const [name = '', count = '', url = ''] = process.argv.slice(2)
const workers = Number(count)

/** Charges all keys in turn, in this process, which is one of several. */
function decider(store: Store): (load: Question['do']) => Promise<Tally> {
  const processes = Math.max(1, workers)
  const limiterOf = (load: Question['do']) =>
    createLimiter({
      name: load,
      store,
      policy: fixedWindow({ limit: DECISIONS[load] / KEYS / 2, window: '3650d' }),
      key: (client: string) => client,
      denyCache: false, // each decision is the store's
      timeout: '30s',
    })
  const limiters = { warmUp: limiterOf('warmUp'), round: limiterOf('round') }
  return async (load) => {
    const end = DECISIONS[load] / processes
    const tally = { allowed: 0, denied: 0 }
    let sent = 0
    const call = async () => {
      while (sent < end) {
        const { allowed, source } = await limiters[load].charge(`client-${sent++ % KEYS}`)
        assert.equal(source, 'store', `${name}: the store did not decide`)
        tally[allowed ? 'allowed' : 'denied']++
      }
    }
    await Promise.all(Array.from({ length: CALLERS / processes }, call))
    return tally
  }
}

/** Resolves with what the workers have done, added up. */
async function together(load: Question['do'], forked: readonly Worker[]): Promise<Tally> {
  const tallies = forked.map(
    (worker) =>
      new Promise<Tally>((resolve, reject) => {
        const onMessage = (message: { readonly tally?: Tally }) => {
          if (message.tally === undefined) return // one of headgate's
          worker.off('message', onMessage)
          resolve(message.tally)
        }
        worker.on('message', onMessage)
        worker.once('exit', (code) => reject(new Error(`A worker ended with code ${code}.`)))
        worker.send({ load })
      }),
  )
  const all = await Promise.all(tallies)
  const sum = (key: keyof Tally) => all.reduce((total, each) => total + each[key], 0)
  return { allowed: sum('allowed'), denied: sum('denied') }
}

/** Resolves once a worker listens: what it is sent before is lost. */
function readyOf(worker: Worker): Promise<void> {
  return new Promise((resolve) => {
    worker.on('message', (message: { readonly ready?: true }) => {
      if (message.ready) resolve()
    })
  })
}

function openStore(): Store {
  const open = STORES[name]
  assert.ok(open, `There is no store ${name}.`)
  return open(url)
}

function runPrimary(): void {
  if (name === 'node:cluster') openStore() // before it forks
  const forked = Array.from({ length: workers }, () => cluster.fork())
  const ready = Promise.all(forked.map(readyOf))
  const decide = workers === 0 ? decider(openStore()) : (load: Question['do']) => together(load, forked)
  process.once('disconnect', () => process.exit()) // its workers then end
  answerQuestions(async ({ do: load }: Question): Promise<Answer> => {
    await ready
    const start = process.hrtime.bigint()
    const tally = await decide(load)
    return { wallNs: Number(process.hrtime.bigint() - start), ...tally }
  })
}

function runWorker(): void {
  const decide = decider(openStore())
  process.on('message', async ({ load }: { readonly load?: Question['do'] }) => {
    if (load !== undefined) process.send?.({ tally: await decide(load) })
  })
  process.send?.({ ready: true })
}

if (cluster.isPrimary) runPrimary()
else runWorker()
