import { signatureOf } from '../../policies/policy.js'
import { groupBy } from '../../util/group-by.js'
import type { Result } from '../operation.js'
import { batcher } from '../shared/batcher.js'
import { withClient } from '../shared/client-of.js'
import { crossShardCharge } from '../shared/cross-shard.js'
import { withExchange } from '../shared/process-exchange.js'
import { checkRenewal } from '../shared/renew-units.js'
import { withSubmit } from '../shared/submit.js'
import { checkCosts, checkOperations, checkRefunds } from '../shared/validate.js'
import type { Charge, KeyedPolicy, Refund, Store, Verdict } from '../store.js'
import { type AnyRedisClient, transportOf } from './client.js'
import { commandError } from './errors.js'
import { multiPolicyCall } from './multi-policy-call.js'
import { operationCall, type RedisOperation } from './operation-call.js'
import { encodePolicy } from './policy-codec.js'
import { redisExchange } from './process-exchange.js'
import { indexesOf, scriptRunner } from './script-runner.js'
import { singlePolicyCall } from './single-policy-call.js'
import type { Command, Transport } from './transport.js'

/**
 * 256 keys spread the cost of a call, and do not keep the server's other clients waiting. The server decides
 * one batch while the next one travels, in order, over one connection. With a distant server, more batches
 * travel: none delays the next one for longer than the stall timeout.
 */
const BATCHES = { maxWeight: 256, maxInFlight: 2, stallTimeoutMs: 10 }

/**
 * Creates a store that keeps states in Redis or Valkey, for any number of processes. Concurrent charges go
 * in a single script call.
 *
 * - Atomicity: a Lua script. A call is sent again only where it certainly was not run: the server does not
 *   know the script (`NOSCRIPT`), or a Cluster's node rejects it because a slot has moved.
 * - In a Cluster, a script sees the keys of one slot. A charge whose keys live in several slots is decided
 *   slot by slot, and refunded when a later slot denies: no more than a limit is ever admitted, but until
 *   the refund, up to the cost of such a charge is missing to others.
 * - Clock: the server's `TIME`.
 * - States expire once they are fresh, up to a slice or a sixteenth of a bucket's span later.
 * - `client` is a `Redis` or a `Cluster` of ioredis 5 or 6 or of iovalkey, or what `createClient`,
 *   `createSentinel` or `createCluster` of redis 5 or 6 (node-redis) returns. It is never closed, and its
 *   `keyPrefix` is respected; other options for its commands, such as a type mapping, are not.
 * - Charges wait for the client's first connection; later they fail with `StoreError` at once while it is
 *   disconnected, instead of waiting in its queue. A client of node-redis connects when `connect()` is
 *   called: before that, charges fail. It ends the process at a lost connection unless it has an `error`
 *   listener, so headgate warns when it has none.
 *
 * Throws a `TypeError` for any other client.
 */
export function redisStore(client: AnyRedisClient): Store {
  const transport = transportOf(client)
  const shards = batcher(scriptRunner(transport, chargeCall, splitByPolicy), {
    ...BATCHES,
    store: 'redis',
    weigh: ({ length }: Charge) => length,
  })
  const changes = batcher(scriptRunner(transport, operationCall), BATCHES)
  const applyAll = (operations: readonly RedisOperation[]) =>
    changes.submitAll(operations.map((operation) => [operation] as const))

  async function refund(refunds: readonly Refund[]): Promise<void> {
    checkRefunds('redisStore', refunds)
    checkPolicies(refunds)
    await applyAll(refunds.map((refund) => ({ ...refund, type: 'refund' })))
  }

  async function renew(units: Refund): Promise<number> {
    checkRenewal('redisStore', units)
    const [resetAtMs] = await applyAll([{ ...units, type: 'renew' }])
    return resetAtMs as number
  }

  function check(charge: Charge): void {
    checkCosts('redisStore', charge)
    checkPolicies(charge)
  }

  const { shardOf, serverOf } = transport
  const chargeAcross = shardOf && crossShardCharge({ shardOf, charge: shards.submitAll, refund })
  const store: Store = {
    name: 'redis',
    async charge(charges) {
      charges.forEach(check)
      return chargeAcross ? chargeAcross(charges) : shards.submitAll(charges)
    },
    refund,
    renew,
    forget: (keys) => unlink(keys, transport),
    async apply(operations) {
      checkOperations('redisStore', operations)
      checkPolicies(operations)
      return (await applyAll(operations)) as Result[]
    },
    ...(shardOf && serverOf && { serverOf: (key: string) => serverOf(shardOf(key)) }),
  }
  withExchange(store, redisExchange(transport))
  return withSubmit(withClient(store, client), (charge, settle) => {
    check(charge)
    if (chargeAcross === undefined || charge.length === 1) shards.submit(charge, settle)
    else chargeAcross([charge]).then(([verdict]) => settle(verdict as Verdict), settle)
  })
}

/** Removes each key by its own command: keys of a moving slot may be on two nodes. */
async function unlink(keys: readonly KeyedPolicy[], { shardOf = () => 0, send }: Transport): Promise<void> {
  const commandOf = (key: string): Command => {
    return { shard: shardOf(key), words: ['unlink', key], firstKey: 1, keyCount: 1 }
  }
  try {
    await Promise.all(send(keys.map(({ key }) => commandOf(key))))
  } catch (cause) {
    throw commandError(cause, undefined)
  }
}

/** Throws a `TypeError` for a policy without a script, which would fail a whole batch. */
function checkPolicies(keys: readonly KeyedPolicy[]): void {
  for (const { policy } of keys) encodePolicy(policy)
}

const chargeCall = (charges: readonly Charge[]) => singlePolicyCall(charges) ?? multiPolicyCall(charges)

/**
 * Groups the indexes of charges of one part by policy, since the script for one policy takes little more
 * than half the time. Charges of several parts, and all that share a key with them, stay together, to be
 * decided in order.
 */
function splitByPolicy(charges: readonly Charge[]): Iterable<readonly number[]> {
  const policy = charges[0]?.[0]?.policy
  if (charges.every((charge) => charge.length === 1 && charge[0]?.policy === policy))
    return [indexesOf(charges)]
  const shared = new Set(
    charges.filter(({ length }) => length > 1).flatMap((charge) => charge.map(({ key }) => key)),
  )
  const groupOf = ([part, ...others]: Charge) =>
    part === undefined || others.length > 0 || shared.has(part.key) ? 'several' : signatureOf(part.policy)
  return groupBy(charges.keys(), (i) => groupOf(charges[i] as Charge)).values()
}
