import type { DynamoDbDocument } from '../../../src/stores/dynamodb/document-client.js'
import type { DynamoDb } from '../../../src/stores/dynamodb/read-client.js'

export type AnyClient = DynamoDb | DynamoDbDocument

/** A request of the store through either client. */
export interface Request {
  readonly operation: 'get' | 'put' | 'update' | 'delete'
  // biome-ignore lint/suspicious/noExplicitAny: the types of the SDK, which tests fetch
  readonly input: any
  /** Sends it, or another input instead. */
  // biome-ignore lint/suspicious/noExplicitAny: the types of the SDK, which tests fetch
  send(input?: object): Promise<any>
}

/** Returns a client whose requests on items go through a function. */
export function intercepted<C extends AnyClient>(
  client: C,
  intercept: (request: Request) => Promise<unknown>,
): C {
  const methods = client as unknown as Readonly<Record<string, Request['send'] | undefined>>
  const through = Object.create(client)
  for (const operation of ['get', 'put', 'update', 'delete'] as const)
    for (const name of [operation, `${operation}Item`])
      if (methods[name] !== undefined)
        through[name] = (input: object) =>
          intercept({
            operation,
            input,
            send: (other = input) => methods[name]?.call(client, other) as never,
          })
  return through
}

/** Returns a client whose keys are its own, in a table that several share. */
export function prefixed<C extends AnyClient>(client: C, prefix: string): C {
  const rename = ({ key, ...others }: { readonly key: string | { readonly S: string } }) => ({
    ...others,
    key: typeof key === 'string' ? prefix + key : { S: prefix + key.S },
  })
  return intercepted(client, ({ input: { Key, Item, ...others }, send }) =>
    send({ ...others, ...(Key && { Key: rename(Key) }), ...(Item && { Item: rename(Item) }) }),
  )
}

/** What requests took. */
export interface Costs {
  readonly requests: Partial<Record<Request['operation'], number>>
  readUnits: number
  writeUnits: number
  /** Writes whose condition failed. */
  failedConditions: number
}

/**
 * Returns a client, and what its requests take. A failed condition takes as many write units as the item has,
 * which no reply shows: those of the last write. `pending` returns how many requests have no reply, so their
 * units are not counted yet.
 */
export function metered<C extends AnyClient>(
  client: C,
): { readonly client: C; readonly costs: Costs; pending(): number } {
  const costs: Costs = { requests: {}, readUnits: 0, writeUnits: 0, failedConditions: 0 }
  let lastUnits = 1
  let pending = 0
  const through = intercepted(client, async ({ operation, input, send }) => {
    costs.requests[operation] = (costs.requests[operation] ?? 0) + 1
    pending++
    try {
      const reply = await send({ ...input, ReturnConsumedCapacity: 'TOTAL' })
      const units: number = reply.ConsumedCapacity.CapacityUnits
      if (operation === 'get') costs.readUnits += units
      else {
        costs.writeUnits += units
        lastUnits = units
      }
      return reply
    } catch (error) {
      if (Object(error).name === 'ConditionalCheckFailedException') {
        costs.failedConditions++
        costs.writeUnits += lastUnits
      }
      throw error
    } finally {
      pending--
    }
  })
  return { client: through, costs, pending: () => pending }
}
