import { groupBy } from '../../util/group-by.js'
import { StoreError } from '../store-error.js'
import { type MemcachedClient, type MemcachedReply, type MemcachedServer, serverFor } from './client.js'
import { type Answer, exchange, noReply, type Waiting } from './exchange.js'
import type { Ask } from './protocol.js'

/**
 * Requests that are on their way to a server at once, and no more are sent to it: some thousands. What waits behind them fails with them,
 * so that nothing waits for a server that hangs any longer than those.
 */
const MAX_ASKS = 2048

/**
 * Asks the server where `home` lives, so that all items of one key are together, whatever they are called. What is asked by the
 * code that runs now goes to each server in one write.
 */
export type Link = (home: string, ask: Ask, done: (answer: Answer) => void) => void

export function link(client: MemcachedClient): Link {
  let waiting: Waiting[] = []
  const queues = new Map<MemcachedServer, { open: number; asks: Waiting[] }>()

  function flush(): void {
    const all = waiting
    waiting = []
    for (const [server, own] of groupBy(all, ({ home }) => serverFor(client, home))) {
      if (server) send(server, own)
      else failAll(own, noReply(new Error('no server can be had')))
    }
  }

  function send(server: MemcachedServer, more: Waiting[]): void {
    const queue = queues.get(server) ?? { open: 0, asks: [] }
    queues.set(server, queue)
    queue.asks = queue.asks.length > 0 ? queue.asks.concat(more) : more
    if (queue.open >= MAX_ASKS || queue.asks.length === 0) return
    const asks = queue.asks.splice(0, MAX_ASKS)
    queue.open += asks.length
    exchange(client, server, asks, (failure) => {
      queue.open -= asks.length
      if (failure) failAll(queue.asks.splice(0), failure)
      else send(server, [])
    })
  }

  return (home, ask, done) => {
    if (waiting.push({ home, ask, done }) === 1) process.nextTick(flush)
  }
}

function failAll(asks: readonly Waiting[], failure: StoreError): void {
  for (const { done } of asks) done(failure)
}

/** Asks, and waits. Rejects with `StoreError` where there is no reply. */
export function askAlone(link: Link, home: string, ask: Ask): Promise<MemcachedReply> {
  return new Promise((resolve, reject) => {
    link(home, ask, (answer) => {
      if (answer instanceof StoreError) reject(answer)
      else resolve(answer)
    })
  })
}
