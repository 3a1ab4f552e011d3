import { fixedWindow } from 'headgate'
import type { Charge } from 'headgate/store'
import { commandError } from '../../../../src/stores/redis/errors.js'
import { replyHint } from '../../../../src/stores/redis/reply-hints.js'
import { runBatch } from '../../../../src/stores/redis/run-batch.js'
import type { Servers } from '../../../../src/stores/redis/servers.js'
import type { Command } from '../../../../src/stores/redis/transport.js'

const charge: Charge = {
  type: 'charge',
  parts: [{ key: 'key', policy: fixedWindow({ limit: 5, window: '1m' }), cost: 1 }],
}

/** A Cluster behind a transport. */
const clusterAt = (transport: object): Servers => ({
  name: 'redis',
  client: {},
  transport: transport as Servers['transport'],
  hintOf: replyHint,
  batching: { maxKeys: 256, maxInFlight: 2 },
  hasSlots: true,
  isProbed: true,
  runBySlot: undefined,
})

/** What a server says, or a driver, and whether the server is up and how often the command is sent. */
const DECISIONS: readonly (readonly [message: string, replied: boolean, times: number])[] = [
  ['NOSCRIPT No matching script. Please use EVAL.', true, 2],
  ['TRYAGAIN Multiple keys request during rehashing of slot', true, 9],
  ['MOVED 3999 127.0.0.1:6381', true, 1],
  ['ASK 3999 127.0.0.1:6381', true, 1],
  ['CLUSTERDOWN The cluster is down', true, 1],
  ['CLUSTERDOWN Hash slot not served', true, 1],
  ['LOADING Redis is loading the dataset in memory', true, 1],
  ['BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.', true, 1],
  ["READONLY You can't write against a read only replica.", true, 1],
  ["MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.", true, 1],
  ["OOM command not allowed when used memory > 'maxmemory'.", true, 1],
  ['MISCONF Redis is configured to save RDB snapshots', true, 1],
  ['NOREPLICAS Not enough good replicas to write.', true, 1],
  ['NOAUTH Authentication required.', true, 1],
  ["NOPERM this user has no permissions to run the 'evalsha' command", true, 1],
  ["ERR unknown command 'EVALSHA'", true, 1],
  ['Too many Cluster redirections. Last error: ReplyError: TRYAGAIN Multiple keys', true, 1],
  ['Too many Cluster redirections. Last error: Error: Connection is closed.', false, 1],
  ['Connection is closed.', false, 1],
  ['connect ECONNREFUSED 127.0.0.1:6379', false, 1],
  ['read ECONNRESET', false, 1],
  ['Socket closed unexpectedly', false, 1],
  ["Stream isn't writeable and enableOfflineQueue options is false", false, 1],
]

test.each(DECISIONS)(
  'after %j, the server counts as up: %p; the command was sent %d times',
  async (message, replied, times) => {
    const sent: Command[] = []
    const send = (commands: readonly Command[]) => {
      sent.push(...commands.filter(({ keyCount }) => keyCount > 0)) // not those that load a script
      return commands.map(() => Promise.reject(new Error(message)))
    }
    const transport = {
      send,
      slotOf: () => 3999,
      serverOf: () => '127.0.0.1:6380',
      scriptsOn: () => new Set(),
    }
    expect(await runBatch(clusterAt(transport), [charge])).toMatchObject([
      { name: 'StoreError', replied, server: '127.0.0.1:6380' },
    ])
    expect(sent).toHaveLength(times)
  },
)

test('a call whose keys are moving is decided once they are together', async () => {
  let tries = 0
  const send = (commands: readonly Command[]) =>
    commands.map(async ({ keyCount }) => {
      if (keyCount > 0) throw new Error(++tries < 3 ? 'TRYAGAIN Multiple keys' : 'LOADING')
    })
  const outcomes = await runBatch(clusterAt({ send, slotOf: () => 0, scriptsOn: () => new Set() }), [charge])
  expect([tries, outcomes]).toMatchObject([3, [{ message: 'redis: LOADING' }]])
})

test('the server of an error that names one stays', () => {
  const error = commandError('redis', new Error('read ECONNRESET'), 'a')
  expect(commandError('redis', error, 'b')).toBe(error)
  expect(error.server).toBe('a')
})
