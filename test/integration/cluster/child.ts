/** A child that its parent serves. Its first argument says what it does. */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { clusterStore } from 'headgate/cluster'
import { concurrency, createLimiter } from 'headgate/http'

const [task = ''] = process.argv.slice(2)
const LIMITS = { name: 'jobs', limit: 100, window: '1h', key: () => 'all', timeout: '30s' } as const

const TASKS: Readonly<Record<string, () => Promise<unknown>>> = {
  /** Is decided while nothing else keeps the process running, and ends by itself. */
  async charge() {
    const limiter = createLimiter({ ...LIMITS, store: clusterStore({ owner: 'parent' }) })
    const { remaining, source } = await limiter.charge(undefined)
    return { remaining, source }
  },
  /** Listens to its parent only after its limiter has done so. */
  async listenLate() {
    const limiter = createLimiter({ ...LIMITS, store: clusterStore({ owner: 'parent' }) })
    await limiter.charge(undefined)
    const [message] = await once(process, 'message')
    return message
  },
  /** Is killed while it holds units. */
  async hold() {
    const policy = concurrency({ limit: 5, ttl: '1h' })
    const store = clusterStore({ owner: 'parent' })
    const limiter = createLimiter({ name: 'held', policy, key: () => 'all', timeout: '30s', store })
    await Promise.all(Array.from({ length: 5 }, () => limiter.charge(undefined)))
    const { allowed } = await limiter.charge(undefined)
    return allowed
  },
  /** Names a store that its parent does not have. */
  async unknown() {
    const store = clusterStore({ owner: 'parent', name: 'unknown' })
    const limiter = createLimiter({ ...LIMITS, store, onStoreError: 'deny' })
    const failed = once(limiter.events, 'storeError')
    await limiter.charge(undefined)
    const [{ message, unsent }] = (await failed) as [{ message: string; unsent: boolean }]
    return { message, unsent }
  },
  /** Sends what no process of this version sends. */
  async attack() {
    const policy = '{"kind":"consecutive","limit":5}'
    const operations = { headgate: 'operations', version: 1, policies: [policy] }
    const asked = { headgate: 'cluster-request', id: -1, store: 'limits' }
    const wrong = [
      null,
      5,
      'text',
      [],
      {},
      { headgate: 'cluster-request' },
      { ...asked, id: 'x' },
      { ...asked, store: 5 },
    ]
    const wrongOperations = [
      null,
      5,
      {},
      [5],
      [{}],
      [[null]],
      [[['a', 0]]],
      [[['a', 0, -1]]],
      [[['a', 9, 1]]],
    ]
    const messages = [
      ...wrong,
      ...wrong.map((message) => ({ ...asked, message })),
      ...wrongOperations.map((each) => ({ ...asked, message: { ...operations, operations: each } })),
      { ...asked, message: { ...operations, version: 99, operations: [] } },
      { ...asked, message: { headgate: 'documents', version: 1, read: 5 } },
    ]
    const replies: unknown[] = []
    const onMessage = (message: unknown) => replies.push(message)
    process.on('message', onMessage)
    for (let round = 0; round < 100; round++) for (const message of messages) process.send?.(message)
    const limiter = createLimiter({ ...LIMITS, name: 'attacked', store: clusterStore({ owner: 'parent' }) })
    const decisions = await Promise.all(Array.from({ length: 300 }, () => limiter.charge(undefined)))
    process.off('message', onMessage)
    const texts = replies.map((reply) => JSON.stringify(reply))
    return {
      allowed: decisions.filter(({ allowed, source }) => allowed && source === 'store').length,
      denied: decisions.filter(({ allowed }) => !allowed).length,
      outcomes: texts.filter((each) => each.includes('"id":-1,') && !each.includes('"failure"')).length,
      namesVersion: texts.some((each) => each.includes('the message has version 99')),
    }
  },
  /** Asks from a thread. */
  async thread() {
    const code = `import(${JSON.stringify(import.meta.url)}).catch(() => {})`
    const worker = new Worker(code, { eval: true, argv: ['inThread'] })
    const [message] = await once(worker, 'message')
    return message
  },
}

if (task === 'inThread') {
  const { parentPort } = await import('node:worker_threads')
  try {
    clusterStore()
  } catch (error) {
    parentPort?.postMessage((error as Error).message)
  }
} else process.send?.({ result: await TASKS[task]?.() })
