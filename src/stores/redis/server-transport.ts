import { warnOnce } from '../../util/warn-once.js'
import type { RedisClient } from './client.js'
import { connectionCheck, untilLost } from './connection.js'
import { type Courier, sendAlone } from './transport.js'

/** Brings commands to one server, or to the master of a Sentinel group. */
export function serverCourier(client: RedisClient): Courier {
  const checkConnection = connectionCheck(client)
  const orLost = untilLost(client)
  if (client.options.autoResendUnfulfilledCommands !== false) {
    warnOnce(
      'HEADGATE_REDIS_RESENDS',
      'headgate: the ioredis client sends commands again after a reconnect, which can count a request twice. Make it ' +
        'with new Redis(url, { autoResendUnfulfilledCommands: false }).',
    )
  }
  return {
    send(commands) {
      checkConnection()
      return commands.map((command) => orLost(sendAlone(client, command)))
    },
  }
}
