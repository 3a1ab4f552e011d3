import type { RedisServer } from '../../support/servers/redis.js'
import { until } from '../../support/servers/wait.js'

/** Breaks a connection while the server holds its commands back, so that they are certainly in flight. */
export async function breakWhileWaiting(
  server: RedisServer,
  connectionId: string,
  begin: () => void,
): Promise<void> {
  await server.cli('CLIENT', 'PAUSE', 10_000, 'WRITE')
  try {
    begin()
    const isBlocked = async () => /blocked_clients:[1-9]/.test(await server.cli('INFO', 'clients'))
    await until('the server holds it back', isBlocked)
    await server.cli('CLIENT', 'KILL', 'ID', connectionId)
  } finally {
    await server.cli('CLIENT', 'UNPAUSE')
  }
}
