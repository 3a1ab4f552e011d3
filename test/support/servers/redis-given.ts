import { randomUUID } from 'node:crypto'
import { redisText } from './redis-command.js'
import type { GivenPlace } from './server.js'

const CLAIM_SECONDS = 3600

/**
 * Claims a database of an existing server: the first of 1 to 15 that is empty and that no other test file
 * has claimed. Only an empty one is taken, so that no data of others is flushed. The claims are keys of
 * database 0. `stop` empties and releases the database.
 */
export async function claimDatabase(serverUrl: string): Promise<GivenPlace> {
  const server = databaseOf(serverUrl, 0)
  const owner = randomUUID()
  for (let number = 1; number <= 15; number++) {
    const claim = `headgate-tests:database:${number}`
    const url = databaseOf(serverUrl, number)
    if ((await redisText(url, ['DBSIZE'])) !== '0') continue
    if ((await redisText(server, ['SET', claim, owner, 'NX', 'EX', CLAIM_SECONDS])) !== 'OK') continue
    if ((await redisText(url, ['DBSIZE'])) === '0') return { url, stop: () => giveBack(url, server, claim) }
    await redisText(server, ['DEL', claim])
  }
  throw new Error('The server that REDIS_URL names has no empty database from 1 to 15 for the tests.')
}

async function giveBack(url: string, server: string, claim: string): Promise<void> {
  await redisText(url, ['FLUSHDB'])
  await redisText(server, ['DEL', claim])
}

function databaseOf(serverUrl: string, number: number): string {
  const url = new URL(serverUrl)
  url.pathname = `/${number}`
  return url.href
}
