/** A Worker that tests ask to use its store, one request after the other or many at once. */

import { durableObjectsStore, type ObjectNamespace } from 'headgate/durable-objects'
import { consecutive, fixedWindow, type Policy, type Store, tokenBucket } from 'headgate/fetch'
import { type Charge, type Operation, type StoreError, serveOperations } from 'headgate/store'
import { manualClock, storeConformance } from 'headgate/testing'
import { sampleOf } from '../../support/store-conformance.js'
import { chargeRepeatedly, newTally, type Tally } from '../../support/tally.js'
import { testClock, type Usage } from './tested-object.js'

export { FewKinds, TestedObject } from './tested-object.js'

interface Env {
  readonly LIMITS: ObjectNamespace
  readonly FEW_KINDS: ObjectNamespace
  readonly [isolate: `ISOLATE_${number}`]: { fetch(request: Request): Promise<Response> }
}

let stores = 0

/** Returns a namespace of objects that no other test uses. */
function unusedObjects({ LIMITS }: Env): ObjectNamespace {
  const prefix = `store-${++stores}`
  return {
    idFromName: (name) => LIMITS.idFromName(`${prefix} ${name}`),
    get: (id, options) => LIMITS.get(id, options),
  }
}

/** Runs the contract of stores, or a sample of it. Two shards, so that each test opens two databases. */
async function conformance(env: Env, isSample: boolean, options: object): Promise<object> {
  const cases = storeConformance({
    makeStore() {
      const clock = manualClock()
      testClock.now = clock
      const store = durableObjectsStore(unusedObjects(env), { shards: 2, ...options })
      return { store, advance: (ms) => void clock.advance(ms) }
    },
    capabilities: { settableClock: true, anyKey: true, atomicAcrossKeys: false },
  })
  const failures: string[] = []
  const chosen = isSample ? sampleOf(cases) : cases
  for (const { name, run } of chosen) await run().catch((error) => void failures.push(`${name}: ${error}`))
  testClock.now = undefined
  return { cases: chosen.length, failures }
}

/** What a load has seen. */
export interface Seen extends Tally {
  readonly errors: readonly string[]
}

/** Charges keys in turn, by several callers at once. */
async function load(env: Env, query: URLSearchParams): Promise<Seen> {
  const number = (name: string, standard: number) => Number(query.get(name) ?? standard)
  const writeDelay = query.get('writeDelay')
  const store = durableObjectsStore(env.LIMITS, writeDelay === null ? {} : { writeDelay })
  const policy = consecutive({ limit: number('limit', 1000) })
  const [keys, charges] = [number('keys', 1), number('charges', 1000)]
  const [tally, errors] = [newTally(), new Set<string>()]
  await chargeRepeatedly(store, {
    parts: () => [{ key: `k:{${tally.sent % keys}}`, policy, cost: 1 }],
    callers: number('callers', 50),
    tally,
    goesOn: () => tally.sent < charges,
    onFailure: (error) => void errors.add(String(error)),
  })
  return { ...tally, errors: [...errors] }
}

function chargeOf(key: string, policy: Policy, cost = 1): Charge {
  return { type: 'charge', parts: [{ key, policy, cost }] }
}

/** Returns how many units of the keys of a load are used. */
async function used(env: Env, query: URLSearchParams): Promise<number> {
  const limit = Number(query.get('limit') ?? 1000)
  const store = durableObjectsStore(env.LIMITS)
  let units = 0
  for (let i = 0; i < Number(query.get('keys') ?? 1); i++) {
    const [outcome] = await store.apply([chargeOf(`k:{${i}}`, consecutive({ limit }), 0)])
    if (outcome instanceof Error || outcome?.type !== 'charge') throw outcome
    units += limit - (outcome.parts[0]?.remaining ?? 0)
  }
  return units
}

/** What an operation costs: calls of objects, rows that these read and write, and bytes on the way. */
export interface Cost extends Usage {
  readonly requests: number
  readonly bytes: number
}

/** Returns the costs of operations, one after the other, on new keys of one client. */
async function costs(env: Env): Promise<Record<string, Cost>> {
  let [requests, bytes] = [0, 0]
  const objects = unusedObjects(env)
  const counted: ObjectNamespace = {
    idFromName: (name) => objects.idFromName(name),
    get(id, options) {
      const stub = objects.get(id, options)
      return {
        async fetch(url, init) {
          const text = await (await stub.fetch(url, init)).text()
          requests++
          bytes += init.body.length + text.length
          return { text: async () => text }
        },
      }
    },
  }
  const store = durableObjectsStore(counted, { shards: 1 })
  const delayed = durableObjectsStore(counted, { shards: 1, writeDelay: '1s' })
  const usage = async () => {
    const stub = objects.get(objects.idFromName('limits-0') as never, {})
    const found = await stub.fetch('https://object/usage', { method: 'POST', body: '' })
    return JSON.parse(await found.text()) as Usage
  }
  const policy = tokenBucket({ capacity: 2, refill: 2, every: '1h' })
  const keyOf = (limit: string) => `hg:3:${limit}:tb:{192.0.2.7}`
  const allThree = (cost: number) =>
    ['api/burst', 'api/hour', 'api/day'].map((limit) => ({ key: keyOf(limit), policy, cost }))
  const one = (cost: number): Charge => chargeOf(keyOf('api'), policy, cost)
  const takenAtMs = Date.now()
  const steps: readonly (readonly [string, Store, Operation])[] = [
    ['the first charge of an object', store, chargeOf(keyOf('other'), policy)],
    ['the first charge of a client', store, one(1)],
    ['a charge', store, one(1)],
    ['a denied charge', store, one(1)],
    ['a charge of cost 0', store, one(0)],
    ['a refund', store, { type: 'refund', key: keyOf('api'), policy, cost: 1, takenAtMs }],
    ['the first charge of three limits', store, { type: 'charge', parts: allThree(1) }],
    ['a charge of three limits', store, { type: 'charge', parts: allThree(1) }],
    ['the first charge with writeDelay', delayed, chargeOf(keyOf('delayed'), policy)],
    ['the next charge with writeDelay', delayed, chargeOf(keyOf('delayed'), policy)],
  ]
  const found: Record<string, Cost> = {}
  for (const [name, through, operation] of steps) {
    const before = await usage()
    const [requestsBefore, bytesBefore] = [requests, bytes]
    const [outcome] = await through.apply([operation])
    if (outcome instanceof Error) throw outcome
    const after = await usage()
    found[name] = {
      requests: requests - requestsBefore,
      rowsWritten: after.rowsWritten - before.rowsWritten,
      rowsRead: after.rowsRead - before.rowsRead,
      bytes: bytes - bytesBefore,
    }
  }
  return found
}

/** What a sweep leaves. */
export interface Expiry {
  readonly clients: number
  readonly clientsAfter: number
  /** How long after the first charge, and after the sweep, an alarm is set. */
  readonly firstAlarmMs: number
  readonly nextAlarmMs: number
}

/** Charges many clients whose states expire in a minute, and one whose state expires later. */
async function expiry(env: Env): Promise<Expiry> {
  const objects = unusedObjects(env)
  const ask = async (path: string) => {
    const stub = objects.get(objects.idFromName('limits-0') as never, {})
    return JSON.parse(await (await stub.fetch(`https://object${path}`, { method: 'POST', body: '' })).text())
  }
  const startMs = Date.now()
  testClock.now = () => startMs
  const store = durableObjectsStore(objects, { shards: 1, writeDelay: '1s' }) // for fewer files to be synced
  const minute = fixedWindow({ limit: 5, window: '1m', startsAt: 'first-request' })
  const days = fixedWindow({ limit: 5, window: '2d', startsAt: 'first-request' })
  for (let i = 0; i < 2500; i++) await store.apply([chargeOf(`k:{${i}}`, minute)])
  await durableObjectsStore(objects, { shards: 1 }).apply([chargeOf('k:{days}', days)])
  const clients = await ask('/clients')
  const firstAlarmMs = (await ask('/alarm')) - startMs
  testClock.now = () => startMs + 86_400_000
  await ask('/sweep')
  const nextAlarmMs = (await ask('/alarm')) - startMs - 86_400_000
  testClock.now = undefined
  return { clients, clientsAfter: await ask('/clients'), firstAlarmMs, nextAlarmMs }
}

/** Charges an object that has the code of one kind of policy. */
async function kinds({ FEW_KINDS }: Env): Promise<object> {
  const store = durableObjectsStore(FEW_KINDS)
  const tryCharge = async (policy: Policy) => (await store.apply([chargeOf('k:{a}', policy)]))[0]
  const known = await tryCharge(consecutive({ limit: 1 }))
  const missing = await tryCharge(tokenBucket({ capacity: 1, refill: 1, every: '1s' }))
  const { message, replied } = missing as StoreError
  return { known: !(known instanceof Error), missing: { message, replied } }
}

/** Asks an object directly. */
function askObject({ LIMITS }: Env, name: string, path: string, body: string): Promise<Response> {
  const stub = LIMITS.get(LIMITS.idFromName(name) as never, {})
  return stub.fetch(`https://object${path}`, { method: 'POST', body }) as Promise<Response>
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const { pathname, searchParams: query } = new URL(request.url)
    const isolate = query.get('isolate')
    query.delete('isolate')
    const other = env[`ISOLATE_${Number(isolate)}`]
    if (other !== undefined) return other.fetch(new Request(`https://isolate${pathname}?${query}`, request))
    const object = query.get('object')
    if (object !== null) return askObject(env, object, pathname, await request.text())
    if (pathname === '/conformance')
      return Response.json(
        await conformance(env, query.get('extent') === 'sample', JSON.parse(query.get('options') ?? '{}')),
      )
    if (pathname === '/operations')
      return Response.json(await serveOperations(durableObjectsStore(env.LIMITS))(await request.json()))
    if (pathname === '/load') return Response.json(await load(env, query))
    if (pathname === '/costs') return Response.json(await costs(env))
    if (pathname === '/expiry') return Response.json(await expiry(env))
    if (pathname === '/kinds') return Response.json(await kinds(env))
    if (pathname === '/owner') return Response.json(durableObjectsStore(env.LIMITS).serverOf?.('k:{0}'))
    if (pathname === '/used') return Response.json(await used(env, query))
    return new Response(null, { status: 404 })
  },
}
